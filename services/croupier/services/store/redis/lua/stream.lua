#!lua flags=no-writes
-- Returns records of one stream in order of version, or the other way round.
--
-- An index is the list of a stream's positions. Where versions are 1, 2, 3 ... a version's place is
-- known; elsewhere it is looked for among the records.
--
-- KEYS  the stream's index, log
-- ARGV  from the version after this one on; to this version, or empty; how many; "desc" or empty
local INDEX, LOG = KEYS[1], KEYS[2]
local after, limit = tonumber(ARGV[1]), tonumber(ARGV[3])

local function record(place)
  local position = redis.call('LINDEX', INDEX, place)
  return redis.call('XRANGE', LOG, position .. '-0', position .. '-0')[1]
end

-- One whose record is missing counts as the last: whoever asked is told that it is missing.
local function version(place)
  local found = record(place)
  return found and tonumber(found[2][4]) or math.huge
end

-- Returns how many records have versions up to `last`.
local function up_to(last, length)
  if last < 0 or length == 0 then
    return 0
  end
  if last == 0 and version(0) > 0 then
    return 0
  end
  if last >= length and version(length - 1) <= last then
    return length
  end
  if last < length and last > 0 and version(last - 1) == last then
    return last
  end
  local low, high = 0, length
  while low < high do
    local middle = math.floor((low + high) / 2)
    if version(middle) <= last then
      low = middle + 1
    else
      high = middle
    end
  end
  return low
end

local length = redis.call('LLEN', INDEX)
local first = up_to(after, length)
local last = ARGV[2] == '' and length or up_to(tonumber(ARGV[2]), length)
if ARGV[4] == 'desc' then
  first = math.max(first, last - limit)
else
  last = math.min(last, first + limit)
end
local found = {}
if first < last then
  for _, position in ipairs(redis.call('LRANGE', INDEX, first, last - 1)) do
    -- One that is missing shows as such: whoever asked finds it out.
    found[#found + 1] = redis.call('XRANGE', LOG, position .. '-0', position .. '-0')[1] or position
  end
end
return found
