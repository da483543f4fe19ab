#!lua flags=no-writes
-- Returns the head, what the log says of itself, and what is known of some requests, as of one moment.
--
-- KEYS  head, log, and requests if some are asked for
-- ARGV  the fields of those requests, as many as `unpack` may spread over a call's arguments
local head = redis.call('HMGET', KEYS[1], 'format', 'position', 'recorded_us', 'frontier', 'epoch')
local last = redis.call('XREVRANGE', KEYS[2], '+', '-', 'COUNT', 1)[1]
local found = #ARGV > 0 and redis.call('HMGET', KEYS[3], unpack(ARGV)) or {}
return { head[1], head[2], head[3], head[4], head[5], last and last[1] or '0-0', redis.call('XLEN', KEYS[2]), found }
