import { quoteLikeGo } from '../go/text.ts'
import { parsePrereleaseIdentifier } from './version.ts'
import type { VersionParseResult, NumericVersionPart } from './version.ts'

export type ReleaseVersion = readonly (NumericVersionPart | string)[]

const maxReleaseLength = 20

/** Parses a non-empty release: dot-separated prerelease identifiers. The error is opm's message. */
export function parseRelease(text: string): VersionParseResult<ReleaseVersion> {
  if (new TextEncoder().encode(text).length > maxReleaseLength) {
    return {
      ok: false,
      error: `invalid release ${quoteLikeGo(text)}: exceeds maximum length of ${maxReleaseLength} characters`,
    }
  }
  const segments: (NumericVersionPart | string)[] = []
  const errors: string[] = []
  for (const [index, part] of text.split('.').entries()) {
    const segment = parsePrereleaseIdentifier(part)
    if (segment.ok) segments.push(segment.value)
    else errors.push(`segment ${index}: ${segment.error}`)
  }
  if (errors.length > 0)
    return { ok: false, error: `invalid release ${quoteLikeGo(text)}: ${errors.join('\n')}` }
  return { ok: true, value: segments }
}
