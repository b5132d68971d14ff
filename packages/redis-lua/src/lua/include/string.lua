-- A text of any kind and length, as one string: six bytes to a number, as put_text has
-- it, would be slow. It is told in a form that is no JSON, by a mark before it, for the
-- client of Upstash takes whatever string can be read as JSON for what that says:
-- '42' for a number, '{}' for an object, 'null' for nothing.
local function put_string(reply, text) reply[#reply + 1] = '=' .. text end
