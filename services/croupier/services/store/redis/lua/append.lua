#!lua
-- Records events without a head, as the library's recorders do: positions are allotted here.
--
-- KEYS  head, log, streams, tracking; each stream's index
-- ARGV  how many streams, records; whom this follows, and to which position, or empty; each stream's
--       name; then of each
--       record  the number of its stream, version, topic, state
local HEAD, LOG, STREAMS, TRACKING = KEYS[1], KEYS[2], KEYS[3], KEYS[4]
local streams, records = tonumber(ARGV[1]), tonumber(ARGV[2])
local followed, to = ARGV[3], ARGV[4]
local of_streams = 5
local of_records = of_streams + streams

if redis.call('HGET', HEAD, 'position') ~= '0' then
  return { 'HEAD' }
end

local function version(index, place)
  local position = redis.call('LINDEX', index, place)
  return tonumber(redis.call('XRANGE', LOG, position .. '-0', position .. '-0')[1][2][4])
end

-- Returns how many records of a stream have lower versions, and whether one has this version.
local function place(index, wanted)
  local low, high = 0, redis.call('LLEN', index)
  local middle = high - 1 -- most often it comes after the last
  while low < high do
    local found = version(index, middle)
    if found == wanted then
      return middle, true
    elseif found < wanted then
      low = middle + 1
    else
      high = middle
    end
    middle = math.floor((low + high) / 2)
  end
  return low, false
end

redis.call('ZCARD', STREAMS)
if followed ~= '' then
  local before = redis.call('HGET', TRACKING, followed)
  if before and tonumber(before) >= tonumber(to) then
    return { 'EXISTS', 'position ' .. before .. ' of ' .. followed }
  end
end
for number = 0, records - 1 do
  local at = of_records + 4 * number
  local _, exists = place(KEYS[5 + tonumber(ARGV[at])], tonumber(ARGV[at + 1]))
  if exists then
    return { 'EXISTS', 'version ' .. ARGV[at + 1] .. ' of ' .. ARGV[of_streams + tonumber(ARGV[at])] }
  end
end

-- May this user do all of what follows? Half of it would be worse than none.
for command, key in pairs({ XADD = LOG, RPUSH = KEYS[5] or LOG, LINSERT = KEYS[5] or LOG, ZADD = STREAMS, HSET = TRACKING }) do
  if not redis.acl_check_cmd(command, key, '1', '2', '3') then
    return { 'DENIED', command }
  end
end

local last = redis.call('XREVRANGE', LOG, '+', '-', 'COUNT', 1)[1]
local first = (last and tonumber(string.match(last[1], '^(%d+)')) or 0) + 1
for number = 0, records - 1 do
  local at = of_records + 4 * number
  local stream = tonumber(ARGV[at])
  local index, id = KEYS[5 + stream], string.format('%.0f', first + number)
  local where = place(index, tonumber(ARGV[at + 1]))
  redis.call('XADD', LOG, id .. '-0',
    's', ARGV[of_streams + stream], 'v', ARGV[at + 1], 't', ARGV[at + 2], 'b', ARGV[at + 3])
  local following = redis.call('LINDEX', index, where)
  if following then
    redis.call('LINSERT', index, 'BEFORE', following, id)
  else
    redis.call('RPUSH', index, id)
    if where == 0 then
      redis.call('ZADD', STREAMS, 0, ARGV[of_streams + stream])
    end
  end
end
if followed ~= '' then
  redis.call('HSET', TRACKING, followed, to)
end
return { 'OK', string.format('%.0f', first) }
