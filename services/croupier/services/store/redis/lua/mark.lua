#!lua flags=allow-oom
-- Writes what is there already, if the log ends where it is said to end: whoever has this write has
-- all before it, since replication, and the file on disk, are one order. Returns whether it did.
--
-- KEYS  head
-- ARGV  the head that is expected: position, frontier
local head = redis.call('HMGET', KEYS[1], 'format', 'position', 'frontier')
if head[1] ~= '1' or head[2] ~= ARGV[1] or head[3] ~= ARGV[2] then
  return 0
end
redis.call('HSET', KEYS[1], 'format', head[1])
return 1
