-- The last moment that a date of ECMAScript has. What lasts longer has no end, and
-- clients misread numbers that are much larger.
local LATEST_MS = 8640000000000000

local function after(now, ms) return math.min(now + ms, LATEST_MS) end
