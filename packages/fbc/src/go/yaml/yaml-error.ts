// go-yaml v2's errors, with positions.

/** Thrown only inside the YAML reader; readYaml() returns it as a value. */
export class YamlError extends Error {
  /** Offset of the error in the text; go-yaml may count its line from elsewhere. */
  readonly at: number
  /** `decoding`: conversion to JSON succeeded, but decoding the JSON failed. */
  readonly stage: 'converting' | 'decoding'

  constructor(message: string, at: number, stage: 'converting' | 'decoding' = 'converting') {
    super(message)
    this.name = 'YamlError'
    this.at = at
    this.stage = stage
  }
}

/** A position as the scanner counts: line from 0. */
export interface YamlMark {
  readonly index: number
  readonly line: number
}

/** go-yaml counts scanner errors' lines from one, but omits the first line. */
export function createScannerError(problem: string, at: YamlMark): YamlError {
  return new YamlError(at.line > 0 ? `yaml: line ${at.line + 1}: ${problem}` : `yaml: ${problem}`, at.index)
}

/** go-yaml counts parser errors' lines from zero. */
export function createParserError(problem: string, at: YamlMark): YamlError {
  return new YamlError(at.line > 0 ? `yaml: line ${at.line}: ${problem}` : `yaml: ${problem}`, at.index)
}
