#!lua
-- Makes the keys of a ledger, or says what is there: the format of its keys, or FOREIGN.
--
-- KEYS  head, log, requests, streams
local format = redis.call('HGET', KEYS[1], 'format')
if format then
  return format
end
if redis.call('EXISTS', unpack(KEYS)) > 0 then
  return 'FOREIGN'
end
redis.call('HSET', KEYS[1], 'format', '1', 'position', '0', 'recorded_us', '0', 'frontier', '', 'epoch', '0', 'requests', '0')
return '1'
