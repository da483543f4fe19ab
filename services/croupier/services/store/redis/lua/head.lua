#!lua flags=no-writes
-- Returns the head, what the log says of itself, and what is known of some requests, as of one moment.
--
-- KEYS  head, log, and requests if some are asked for
-- ARGV  the fields of those requests
local CHUNK = 1000 -- what unpack may spread over a call's arguments

local head = redis.call('HMGET', KEYS[1], 'format', 'position', 'recorded_us', 'frontier', 'epoch')
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local found = {}
for start = 1, #ARGV, CHUNK do
  for _, value in ipairs(redis.call('HMGET', KEYS[3], unpack(ARGV, start, math.min(start + CHUNK - 1, #ARGV)))) do
    found[#found + 1] = value
  end
end
return { head[1], head[2], head[3], head[4], head[5], last and last[1] or '0-0', redis.call('XLEN', KEYS[2]), found }
