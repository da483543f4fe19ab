#!lua flags=allow-oom
-- Begins another epoch: a commit that was sent in this one and is still on its way will be refused.
--
-- KEYS  head
if redis.call('HGET', KEYS[1], 'format') ~= '1' then
  return 0
end
return redis.call('HINCRBY', KEYS[1], 'epoch', 1)
