/** Thrown only inside the JSON reader, in the words of Go's encoding/json. */
export class JsonError extends Error {
  /** `end`: the text ended inside a value. */
  readonly kind: 'syntax' | 'end'
  /** Index of the offending character in the text. */
  readonly at: number

  constructor(kind: 'syntax' | 'end', message: string, at: number) {
    super(message)
    this.name = 'JsonError'
    this.kind = kind
    this.at = at
  }
}
