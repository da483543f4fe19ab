#!lua flags=no-writes
-- Returns the head and what the log says of itself, as of one moment.
--
-- KEYS  head, log
local head = redis.call('HMGET', KEYS[1], 'format', 'position', 'recorded_us', 'frontier', 'epoch')
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
return { head[1], head[2], head[3], head[4], head[5], last and last[1] or '0-0', redis.call('XLEN', KEYS[2]) }
