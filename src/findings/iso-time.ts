/** `2026-11-22T10:00:00.000Z`, of milliseconds since the epoch: arithmetic on a time that was handed over, no clock is read. */
// oxlint-disable-next-line no-restricted-globals
export const formatIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
