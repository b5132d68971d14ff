-- A number as Redis is told it. How a server writes a number of Lua by itself is its
-- own affair: some drop digits of one that long, some take to exponents.
local function whole(number) return string.format('%.0f', number) end

-- Replies are integers, so that clients of RESP2, RESP3 and JSON read the same; see
-- string.lua for the one exception. A text, which is ASCII here, goes as its length and then six bytes
-- to a number: more would not fit in what a double holds exactly.
local function put_text(reply, text)
  reply[#reply + 1] = #text
  for first = 1, #text, 6 do
    local number = 0
    for at = first, math.min(first + 5, #text) do number = number * 256 + string.byte(text, at) end
    reply[#reply + 1] = number
  end
end

local function put_integer(reply, number) reply[#reply + 1] = number end

-- Nothing here is ever negative.
local function put_optional(reply, number) reply[#reply + 1] = number or -1 end

local function put_flag(reply, flag) reply[#reply + 1] = flag and 1 or 0 end

-- As many as there are, and so the last of a reply.
local function put_integers(reply, numbers)
  for _, number in ipairs(numbers) do reply[#reply + 1] = number end
end
