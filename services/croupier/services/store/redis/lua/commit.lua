#!lua
-- Records a commit: all of it, or nothing. Redis takes nothing back, so that whatever can be wrong
-- is looked at before the first write, and the first write is the only one that may still refuse.
--
-- KEYS  head, log, requests, streams, queue; each stream's index; each snapshot
-- ARGV  the head that is expected: position, frontier, epoch; who commits; the new head: position,
--       recorded_us, frontier; how many streams, records, requests, snapshots; how long whoever is
--       next has to notice, milliseconds; how many requests were refused as if they were new; then of each
--       stream    its name, the version of its first record
--       record    the number of its stream, version, topic, state
--       request   its field, its value
--       snapshot  position, stamp, digest, state
--       refused   its field
local HEAD, LOG, REQUESTS, STREAMS, QUEUE = KEYS[1], KEYS[2], KEYS[3], KEYS[4], KEYS[5]
local CHUNK = 1000 -- what unpack may spread over a call's arguments
local LEASE_MAX_MS = 60000 -- nobody is next for longer: the clock was set back, or it is nonsense

local position = ARGV[1]
local streams, records = tonumber(ARGV[8]), tonumber(ARGV[9])
local requests, snapshots = tonumber(ARGV[10]), tonumber(ARGV[11])
local refused = tonumber(ARGV[13])
local of_streams = 14
local of_records = of_streams + 2 * streams
local of_requests = of_records + 4 * records
local of_snapshots = of_requests + 2 * requests
local of_refused = of_snapshots + 4 * snapshots

-- Is it decided on the head there is, and is it this writer's turn?
local head = redis.call('HMGET', HEAD, 'format', 'position', 'frontier', 'epoch', 'next', 'next_until_ms', 'requests')
if head[1] ~= '1' then
  return { 'GONE' }
end
if head[2] ~= position or head[3] ~= ARGV[2] or head[4] ~= ARGV[3] then
  return { 'MOVED', head[2] }
end
local time = redis.call('TIME')
local now_ms = tonumber(time[1]) * 1000 + math.floor(tonumber(time[2]) / 1000)
local until_ms = tonumber(head[6] or '') or 0
if head[5] and head[5] ~= ARGV[4] and now_ms < until_ms and until_ms <= now_ms + LEASE_MAX_MS then
  return { 'NEXT' }
end

-- Is everything new? Calls on a key of another type fail here, too.
local last = redis.call('XREVRANGE', LOG, '+', '-', 'COUNT', 1)[1]
if (last and last[1] or '0-0') ~= position .. '-0' then
  return { 'BROKEN', 'the log ends at ' .. (last and last[1] or 'nothing') .. ', the head is at ' .. position }
end
-- Of a request that is missing, a retry would be done twice.
local known = redis.call('HLEN', REQUESTS)
if known ~= tonumber(head[7]) then
  return { 'BROKEN', (head[7] or 'nobody knows how many') .. ' requests were accepted, ' .. known .. ' are known' }
end
redis.call('ZCARD', STREAMS)
for number = 1, streams do
  local first = tonumber(ARGV[of_streams + 2 * number - 1])
  if redis.call('LLEN', KEYS[5 + number]) ~= first - 1 then
    return { 'EXISTS', 'version ' .. first .. ' is not the next of ' .. ARGV[of_streams + 2 * number - 2] }
  end
end
local function known_of(count, first, step)
  for start = 0, count - 1, CHUNK do
    local fields = {}
    for number = start, math.min(start + CHUNK, count) - 1 do
      fields[#fields + 1] = ARGV[first + step * number]
    end
    for number, found in ipairs(redis.call('HMGET', REQUESTS, unpack(fields))) do
      if found then
        return fields[number]
      end
    end
  end
end
local before = known_of(requests, of_requests, 2) or known_of(refused, of_refused, 1)
if before then
  return { 'KNOWN', 'request ' .. before }
end
for number = 1, snapshots do
  redis.call('HLEN', KEYS[5 + streams + number])
end

-- May this user do all of what follows? Half of it would be worse than none.
for command, key in pairs({ XADD = LOG, RPUSH = KEYS[6] or LOG, ZADD = STREAMS, HSET = HEAD, HINCRBY = HEAD, HDEL = HEAD, LPOP = QUEUE }) do
  if not redis.acl_check_cmd(command, key, '1', '2', '3') then
    return { 'DENIED', command }
  end
end

-- Now it is written.
local indexes, next_position = {}, tonumber(position)
for number = 0, records - 1 do
  local at = of_records + 4 * number
  local stream = tonumber(ARGV[at])
  next_position = next_position + 1
  local id = string.format('%.0f', next_position)
  redis.call('XADD', LOG, id .. '-0',
    's', ARGV[of_streams + 2 * stream], 'v', ARGV[at + 1], 't', ARGV[at + 2], 'b', ARGV[at + 3])
  local index = indexes[stream]
  if not index then
    index = {}
    indexes[stream] = index
  end
  index[#index + 1] = id
  if #index == CHUNK then
    redis.call('RPUSH', KEYS[6 + stream], unpack(index))
    indexes[stream] = nil
  end
end
for stream, index in pairs(indexes) do
  redis.call('RPUSH', KEYS[6 + stream], unpack(index))
end
for number = 0, streams - 1 do
  if ARGV[of_streams + 2 * number + 1] == '1' then
    redis.call('ZADD', STREAMS, 0, ARGV[of_streams + 2 * number])
  end
end
for number = 0, requests - 1 do
  redis.call('HSET', REQUESTS, ARGV[of_requests + 2 * number], ARGV[of_requests + 2 * number + 1])
end
for number = 0, snapshots - 1 do
  local at = of_snapshots + 4 * number
  redis.call('HSET', KEYS[6 + streams + number],
    'position', ARGV[at], 'stamp', ARGV[at + 1], 'digest', ARGV[at + 2], 'state', ARGV[at + 3])
end
redis.call('HSET', HEAD, 'position', ARGV[5], 'recorded_us', ARGV[6], 'frontier', ARGV[7])
redis.call('HINCRBY', HEAD, 'requests', requests)
if head[5] then
  -- Whoever waits longest is next.
  local first = redis.call('LPOP', QUEUE)
  if first then
    redis.call('HSET', HEAD, 'next', first, 'next_until_ms', string.format('%.0f', now_ms + tonumber(ARGV[12])))
  else
    redis.call('HDEL', HEAD, 'next', 'next_until_ms')
  end
end
return { 'OK' }
