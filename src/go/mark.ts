// A place in a text.

/** Where something begins: line and column from 1. Which file it is in, its surroundings say. */
export interface Mark {
  readonly line: number
  readonly column: number
}
