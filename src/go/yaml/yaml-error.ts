// Why a YAML text cannot be read, in go-yaml v2's words, and where.

/** Thrown inside the YAML reader only; readYaml() turns it into a value. */
export class YamlError extends Error {
  /** Offset into the text where the trouble is (not always where go-yaml counts its line). */
  readonly at: number
  /** `decoding`: the YAML could be read and written as JSON, but the JSON could not be read back. */
  readonly stage: 'converting' | 'decoding'

  constructor(message: string, at: number, stage: 'converting' | 'decoding' = 'converting') {
    super(message)
    this.name = 'YamlError'
    this.at = at
    this.stage = stage
  }
}

/** A place in the text as the scanner counts: line from 0. */
export interface Mark {
  readonly index: number
  readonly line: number
}

/** An error of the scanner. go-yaml counts lines from one here, but does not name a first line. */
export function scannerError(problem: string, at: Mark): YamlError {
  return new YamlError(at.line > 0 ? `yaml: line ${at.line + 1}: ${problem}` : `yaml: ${problem}`, at.index)
}

/** An error of the parser, which counts lines from zero. */
export function parserError(problem: string, at: Mark): YamlError {
  return new YamlError(at.line > 0 ? `yaml: line ${at.line}: ${problem}` : `yaml: ${problem}`, at.index)
}
