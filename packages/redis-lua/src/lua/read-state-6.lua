-- How things are. Creates a circuit that is not there; touches one that is.
--
-- @include time text lag circuit snapshot
-- @keys circuit instances numbers counts failed failing
-- @args instance nonce window_ms:number window_span_ms:number fleet_span_ms:number idle_ms:number
-- @reply @snapshot

local circuit = present()
keep(circuit)
local reply = {}
put_snapshot(reply, snapshot_of(circuit))
return reply
