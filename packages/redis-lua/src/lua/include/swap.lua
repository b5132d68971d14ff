-- What a swap makes of a circuit whose state and period are already known to be
-- those the caller decided on; nil where the present does not allow it.

local function half_open(circuit, trips, probe_successes)
  return {
    state = 'half-open', trips = trips, probe_successes = probe_successes,
    opened_at = circuit.opened_at, probe_after = circuit.probe_after,
  }
end

local function with_permit(phase, circuit)
  phase.owner = owner
  phase.lease_until = after(circuit.now, lease_ms)
  return phase
end

-- A lapsed permit is still its owner's to yield: nobody claimed it, or the period would be another.
local function yielded(circuit, trips)
  if circuit.owner ~= owner then return nil end
  return half_open(circuit, trips, circuit.probe_successes + (succeeded and 1 or 0))
end

local function claimed(circuit, trips)
  if circuit.lease_until and circuit.now < circuit.lease_until then return nil end
  return with_permit(half_open(circuit, trips, circuit.probe_successes), circuit)
end

local function decide_swap(circuit)
  local now, trips = circuit.now, present_trips(circuit)
  if to == 'open' then
    return { state = 'open', opened_at = now, probe_after = after(now, cooldown_ms), trips = trips + 1 }
  elseif to == 'closed' then
    -- A reset of a closed circuit does not interrupt its having stayed closed.
    return { state = 'closed', trips = trips, since = circuit.state == 'closed' and circuit.since or now }
  elseif to == 'isolated' then
    return { state = 'isolated', trips = trips }
  elseif circuit.state == 'half-open' then
    if yield then return yielded(circuit, trips) end
    return claimed(circuit, trips)
  end
  if now < circuit.probe_after then return nil end
  return with_permit(half_open(circuit, trips, 0), circuit)
end
