// Reads a manifest's identity from its JSON without building the tree, because only three strings are needed. Checks
// the whole syntax, because a malformed manifest has no identity.
import { BACKSLASH, DOUBLE_QUOTE } from './byte-classes.ts'

export interface ManifestIdentity {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
}

const maxManifestJsonDepth = 250
const jsonStringStopByteTable = new Uint8Array(256)
jsonStringStopByteTable.fill(1, 0, 0x20)
jsonStringStopByteTable[DOUBLE_QUOTE] = 1
jsonStringStopByteTable[BACKSLASH] = 1

/**
 * Reads one JSON object; each character of `json` is one byte. Returns undefined for anything unusual (errors, great
 * depth, a non-ASCII name), which the exact reader must read.
 */
export function parseManifestIdentity(json: string): ManifestIdentity | undefined {
  return new ManifestIdentityParser(json).identity()
}

class ManifestIdentityParser {
  private readonly json: string
  private at = 0
  private isBroken = false
  private apiVersion = ''
  private kind = ''
  private name = ''

  constructor(json: string) {
    this.json = json
  }

  identity(): ManifestIdentity | undefined {
    this.object(1, false)
    const { apiVersion, kind, name } = this
    return this.isBroken ? undefined : { apiVersion, kind, name }
  }

  private object(depth: number, isMetadata: boolean): void {
    const { json } = this
    if (json.charCodeAt(this.at) !== 0x7b || depth > maxManifestJsonDepth) return this.fail()
    this.at++
    if (this.skipSpace() === 0x7d) {
      this.at++
      return
    }
    for (;;) {
      const keyStart = this.at + 1
      const isPlain = this.string()
      const keyEnd = this.at - 1
      if (this.skipSpace() !== 0x3a) this.fail()
      this.at++
      this.skipSpace()
      if (depth === 1 || isMetadata) {
        if (!isPlain) this.fail()
        this.field(json.slice(keyStart, keyEnd), isMetadata)
      } else {
        this.value(depth)
      }
      const next = this.skipSpace()
      if (this.isBroken) return
      this.at++
      if (next === 0x7d) return
      if (next !== 0x2c) return this.fail()
      this.skipSpace()
    }
  }

  /** For a repeated key, the last value counts. */
  private field(key: string, isMetadata: boolean): void {
    const isIdentity = isMetadata ? key === 'name' : key === 'apiVersion' || key === 'kind'
    if (isIdentity) {
      const text = this.textOrNothing()
      if (isMetadata) this.name = text
      else if (key === 'kind') this.kind = text
      else this.apiVersion = text
    } else if (!isMetadata && key === 'metadata') {
      this.name = ''
      if (this.json.charCodeAt(this.at) === 0x7b) this.object(2, true)
      else this.value(1)
    } else {
      this.value(isMetadata ? 2 : 1)
    }
  }

  private textOrNothing(): string {
    if (this.json.charCodeAt(this.at) !== DOUBLE_QUOTE) {
      this.value(2)
      return ''
    }
    const start = this.at + 1
    if (!this.string()) this.fail()
    const text = this.json.slice(start, this.at - 1)
    if (!/^[ -~]*$/.test(text)) this.fail()
    return text
  }

  private value(depth: number): void {
    const first = this.json.charCodeAt(this.at)
    if (first === DOUBLE_QUOTE) this.string()
    else if (first === 0x7b) this.object(depth + 1, false)
    else if (first === 0x5b) this.array(depth + 1)
    else this.word()
  }

  private array(depth: number): void {
    if (depth > maxManifestJsonDepth) return this.fail()
    this.at++
    if (this.skipSpace() === 0x5d) {
      this.at++
      return
    }
    for (;;) {
      this.value(depth)
      const next = this.skipSpace()
      if (this.isBroken) return
      this.at++
      if (next === 0x5d) return
      if (next !== 0x2c) return this.fail()
      this.skipSpace()
    }
  }

  /** Returns true if the string has no escapes. */
  private string(): boolean {
    const { json } = this
    if (json.charCodeAt(this.at) !== DOUBLE_QUOTE) {
      this.fail()
      return false
    }
    let isPlain = true
    let at = this.at + 1
    for (;;) {
      // Past the end the index is NaN, and the lookup gives undefined, not 0.
      while (jsonStringStopByteTable[json.charCodeAt(at)] === 0) at++
      const stop = json.charCodeAt(at)
      if (stop === DOUBLE_QUOTE) break
      if (stop !== BACKSLASH) {
        this.fail()
        return false
      }
      isPlain = false
      const escape = getJsonEscapeLength(json, at + 1)
      if (escape === 0) {
        this.fail()
        return false
      }
      at += 1 + escape
    }
    this.at = at + 1
    return isPlain
  }

  private word(): void {
    jsonLiteralPattern.lastIndex = this.at
    if (!jsonLiteralPattern.test(this.json)) return this.fail()
    this.at = jsonLiteralPattern.lastIndex
  }

  private skipSpace(): number {
    for (;;) {
      const next = this.json.charCodeAt(this.at)
      if (next !== 0x20 && next !== 0x0a && next !== 0x0d && next !== 0x09) return next
      this.at++
    }
  }

  private fail(): void {
    this.isBroken = true
    // Makes every later read fail immediately.
    this.at = this.json.length
  }
}

const jsonLiteralPattern = /(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)/y

/** The length of an escape after its backslash, or 0 if it is invalid. */
function getJsonEscapeLength(json: string, at: number): number {
  const code = json.charAt(at)
  if (code === 'u') return /^[0-9a-fA-F]{4}$/.test(json.slice(at + 1, at + 5)) ? 5 : 0
  return code !== '' && '"\\/bfnrt'.includes(code) ? 1 : 0
}
