-- @reply state:closed|open|half-open|isolated digits nonce:text opened_at:optional probe_after:optional
-- @reply trips probe_successes fleet now owner:text lease_until:optional
local function snapshot_of(circuit)
  return {
    state = circuit.state,
    digits = circuit.digits,
    nonce = circuit.nonce,
    opened_at = circuit.opened_at,
    probe_after = circuit.probe_after,
    trips = present_trips(circuit),
    probe_successes = circuit.probe_successes,
    fleet = circuit.fleet,
    now = circuit.now,
    owner = circuit.owner or '',
    lease_until = circuit.lease_until,
  }
end
