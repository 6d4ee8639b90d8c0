/** Formats milliseconds since the epoch as `2026-11-22T10:00:00.000Z`. Does not read a clock. */
// oxlint-disable-next-line no-restricted-globals
export const formatIsoTime = (milliseconds: number): string => new Date(milliseconds).toISOString()
