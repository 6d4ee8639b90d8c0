// The one list of checks, in the order in which people see them. Everything else maps over it: what the gate requires,
// the check runs on GitHub, the comment, the index of rules' pages.

/** The gates GitHub shows; a rule belongs to exactly one. */
export const checks = [
  { id: 'ownership', title: 'The people who may agree to this change have agreed' },
  { id: 'validation', title: 'The catalog is valid' },
  { id: 'images', title: 'Every image exists, is allowed and matches the catalog' },
] as const

export type CheckId = (typeof checks)[number]['id']

export const checkIds: readonly CheckId[] = checks.map(({ id }) => id)
