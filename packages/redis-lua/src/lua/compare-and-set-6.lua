-- Swaps the state, if the circuit is still in the period that the caller decided
-- on and the present allows it, and clears what was counted in the period that ends.
--
-- ok: whether it landed, by this delivery or an earlier one. Tells whoever listens
-- to the channel of a swap that landed, in the form of a reply of read-state.
--
-- @include time text lag circuit snapshot end swap
-- @keys circuit instances numbers counts failed failing
-- @args instance nonce deadline:optional window_ms:number window_span_ms:number fleet_span_ms:number idle_ms:number
-- @args from to pair:flag digits:number period owner yield:flag succeeded:flag
-- @args cooldown_ms:number lease_ms:number channel
-- @reply ok:flag @snapshot

local circuit = present()
local refused_field = '!' .. instance

local function lands()
  -- A period that was created has another one: a ~ stands before the nonce of who came by.
  if circuit.nonce == nonce and circuit.state == to then return true end
  if circuit.digits ~= digits or circuit.nonce ~= period then return false end
  if circuit.state ~= from or not pair then return false end
  if deadline and circuit.now > deadline then return false end
  if redis.call('HGET', numbers_key, refused_field) == nonce then return false end
  local phase = decide_swap(circuit)
  if not phase then
    -- Delivered again, when the present would allow it, it stays refused: its caller has gone on without it.
    redis.call('HSET', numbers_key, refused_field, nonce)
    return false
  end
  begin(circuit, phase)
  local message = {}
  put_snapshot(message, snapshot_of(circuit))
  for place, number in ipairs(message) do message[place] = whole(number) end
  -- pcall: the swap has landed, whether or not this user may publish.
  redis.pcall('PUBLISH', channel, table.concat(message, ' '))
  return true
end

local landed = lands()
keep(circuit)
local reply = {}
put_flag(reply, landed)
put_snapshot(reply, snapshot_of(circuit))
return reply
