-- The quotas of a command: one argument, five words to a quota. The first three say
-- whose state it is, and are its slot; limit and capacity are the caller's.
local function parse_quotas(packed)
  local list = {}
  local form = '(%S+ (%S+) (%d+)) (%d+) (%d+)'
  for slot, algorithm, window, limit, capacity in string.gmatch(packed, form) do
    list[#list + 1] = {
      slot = slot, algorithm = algorithm,
      window = tonumber(window), limit = tonumber(limit), capacity = tonumber(capacity),
    }
  end
  return list
end
