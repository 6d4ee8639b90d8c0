/** Line and column from 1. The context determines the file. */
export interface TextPosition {
  readonly line: number
  readonly column: number
}
