#!lua flags=no-writes
-- Returns how many records the indexes of some streams name.
--
-- KEYS  each stream's index
local count = 0
for _, index in ipairs(KEYS) do
  count = count + redis.call('LLEN', index)
end
return count
