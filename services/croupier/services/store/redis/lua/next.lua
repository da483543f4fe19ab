#!lua
-- Lets one writer commit before all others for a while, unless that was granted to another.
--
-- KEYS  head
-- ARGV  who asks; for how long, milliseconds
local head = redis.call('HMGET', KEYS[1], 'format', 'next', 'next_until_ms')
local now = redis.call('TIME')
local now_ms = tonumber(now[1]) * 1000 + math.floor(tonumber(now[2]) / 1000)
if head[1] ~= '1' or (head[2] and head[2] ~= ARGV[1] and now_ms < tonumber(head[3])) then
  return 0
end
redis.call('HSET', KEYS[1], 'next', ARGV[1], 'next_until_ms', string.format('%.0f', now_ms + tonumber(ARGV[2])))
return 1
