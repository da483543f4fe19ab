#!lua
-- Gives up being next, for the one who waits longest.
--
-- KEYS  head, queue
-- ARGV  who gives up; how long the other has to notice, milliseconds
local HEAD, QUEUE = KEYS[1], KEYS[2]
if redis.call('HGET', HEAD, 'next') ~= ARGV[1] then
  return 0
end
local first = redis.call('LPOP', QUEUE)
if first then
  local time = redis.call('TIME')
  local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
  redis.call('HSET', HEAD, 'next', first, 'next_until_ms', string.format('%.0f', now_ms + tonumber(ARGV[2])))
else
  redis.call('HDEL', HEAD, 'next', 'next_until_ms')
end
return 1
