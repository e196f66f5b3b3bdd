package jetstream

// RemoveAcknowledged is for tests: no call of a client makes a broker keep what it was told is done.
var RemoveAcknowledged = removeAcknowledged
