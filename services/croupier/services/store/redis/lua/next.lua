#!lua
-- Lets one writer commit before all others for a while. Others queue, and none of them overtakes.
--
-- KEYS  head, queue
-- ARGV  who asks; for how long; how long another has to notice that it is his turn; milliseconds
local HEAD, QUEUE, me = KEYS[1], KEYS[2], ARGV[1]
local LEASE_MAX_MS = 60000 -- as in commit.lua
local head = redis.call('HMGET', HEAD, 'format', 'next', 'next_until_ms')
if head[1] ~= '1' then
  return 0
end
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)

local function grant(whom, for_ms)
  redis.call('HSET', HEAD, 'next', whom, 'next_until_ms', string.format('%.0f', now_ms + for_ms))
end

local function queue()
  if not redis.call('LPOS', QUEUE, me) then
    redis.call('RPUSH', QUEUE, me)
    redis.call('PEXPIRE', QUEUE, 10000)
  end
  return 0
end

local until_ms = tonumber(head[3] or '') or 0
if head[2] and now_ms < until_ms and until_ms <= now_ms + LEASE_MAX_MS then
  if head[2] ~= me then
    return queue()
  end
  grant(me, tonumber(ARGV[2]))
  return 1
end
-- Nobody is next, or whoever was let his time pass.
local first = redis.call('LPOP', QUEUE)
if first and first ~= me then
  grant(first, tonumber(ARGV[3]))
  return queue()
end
grant(me, tonumber(ARGV[2]))
return 1
