// CODEOWNERS with GitHub's semantics: the last matching line wins, and a line without owners removes them. Unlike
// GitHub, any error invalidates the file, because the invalid line might revoke permissions.
import { findAmbiguousLineBreak, findInvisibleCharacter } from '../../../config/text-problems.ts'
import { parseUserPrincipal, parseTeamPrincipal, type Principal } from '../principals.ts'
import type { OwnerSourceReadResult, OwnerSourceProblem } from './owner-source.ts'
import { memoizePerObject, getOrCreate } from '@catalog-bot/findings/memoize'
import { matchesGlob, type Glob, type GlobToken } from '@catalog-bot/fbc/load/select-files'

export interface CodeownersLine {
  readonly segments: readonly CodeownersPatternSegment[]
  readonly owners: readonly Principal[]
}

/** A path segment: `**` for any number, plain text, or a pattern. */
type CodeownersPatternSegment =
  '**' | { readonly text: string; readonly isPlain: boolean; readonly glob: Glob }

// GitHub ignores files of 3 MB or more.
const maxCodeownersBytes = 3 * 1024 * 1024

const emailPattern = /^[^\s@]+@[^\s@]+\.[^\s@]+$/

/** Lists all errors; with any, returns no lines. */
export function parseCodeownersFile(
  file: string,
  text: string,
): OwnerSourceReadResult<readonly CodeownersLine[]> {
  const problems: OwnerSourceProblem[] = []
  const lines: CodeownersLine[] = []
  if (new TextEncoder().encode(text).length >= maxCodeownersBytes)
    problems.push({
      at: { file, line: 1, column: 1 },
      problem: 'the file is 3 MB or larger, so GitHub ignores it',
    })
  else
    for (const [index, line] of text.split('\n').entries()) {
      const parsed = parseCodeownersLine(line.replace(/\r$/, ''))
      if (parsed === undefined) continue
      if (typeof parsed === 'string')
        problems.push({ at: { file, line: index + 1, column: 1 }, problem: parsed })
      else lines.push(parsed)
    }
  const [first, ...rest] = problems
  return first === undefined ? { kind: 'read', value: lines } : { kind: 'broken', problems: [first, ...rest] }
}

/** The owners from the last matching line. Case matters. */
export function findCodeowners(path: string, lines: readonly CodeownersLine[]): readonly Principal[] {
  const parts = path.split('/')
  let last = -1
  for (const at of findCandidateCodeownersLines(lines, parts))
    if (at > last && matchesCodeownersPathPattern(lines[at]?.segments ?? [], parts)) last = at
  return lines[last]?.owners ?? []
}

/** Narrows down the lines that can match a path: those that contain one of its parts, and those without plain parts. */
interface CodeownersIndex {
  readonly byName: ReadonlyMap<string, readonly number[]>
  readonly others: readonly number[]
}

function* findCandidateCodeownersLines(
  lines: readonly CodeownersLine[],
  parts: readonly string[],
): Generator<number> {
  const index = getCodeownersIndex(lines)
  for (const part of new Set(parts)) yield* index.byName.get(part) ?? []
  yield* index.others
}

const getCodeownersIndex = memoizePerObject((lines: readonly CodeownersLine[]): CodeownersIndex => {
  const byName = new Map<string, number[]>()
  const others: number[] = []
  for (const [at, { segments }] of lines.entries()) {
    // The last plain segment is the rarest: `/operators/foo/` names foo's directory.
    const plain = segments.findLast((segment) => segment !== '**' && segment.isPlain)
    if (plain === undefined || plain === '**') others.push(at)
    else getOrCreate(byName, plain.text, () => []).push(at)
  }
  return { byName, others }
})

/**
 * A line, a problem as text, or undefined for a blank line or comment. Only spaces and tabs separate words, because
 * GitHub does not document which characters it treats as whitespace.
 */
function parseCodeownersLine(line: string): CodeownersLine | string | undefined {
  const divided = findAmbiguousLineBreak(line)
  if (divided !== undefined)
    return `the file contains ${divided.name}, which some parsers treat as the end of a line`
  const words = tokenizeCodeownersLine(line)
  const odd = words.map(findInvisibleCharacter).find((name) => name !== undefined)
  if (odd !== undefined) return `the file contains ${odd}, which only some parsers treat as whitespace`
  const [pattern, ...owners] = words
  if (pattern === undefined) return undefined
  if (pattern.startsWith('!')) return 'patterns cannot be negated with !'
  if (/[[\]]/.test(pattern)) return 'patterns cannot use [ ]'
  if (pattern.startsWith('\\#')) return 'a pattern cannot start with an escaped #'
  if (pattern.includes('#')) return 'a # in a pattern could start a comment'
  if (/(?<!\\)(?:\\\\)*\\$/.test(pattern)) return 'a pattern cannot end with a backslash'
  const segments = splitCodeownersPattern(pattern)
  if (segments === undefined) return `${JSON.stringify(pattern)} is not a valid pattern`
  const principals: Principal[] = []
  for (const owner of owners) {
    const principal = parseCodeownersOwner(owner)
    if (principal === undefined)
      return `${JSON.stringify(owner)} is not @login, @organization/team, or an email address`
    principals.push(principal)
  }
  return { segments: segments.map(parseCodeownersPatternSegment), owners: principals }
}

/** Splits at whitespace. `\ ` keeps a space, and `#` at the start of a word starts a comment. */
function tokenizeCodeownersLine(line: string): readonly string[] {
  const words: string[] = []
  let word = ''
  for (let at = 0; at < line.length; at += 1) {
    const char = line.charAt(at)
    if (char === '\\' && line.charAt(at + 1) === ' ') {
      word += ' '
      at += 1
    } else if (char === ' ' || char === '\t') {
      if (word !== '') words.push(word)
      word = ''
    } else if (char === '#' && word === '') return words
    else word += char
  }
  if (word !== '') words.push(word)
  return words
}

function parseCodeownersOwner(text: string): Principal | undefined {
  if (text.startsWith('@')) {
    const name = text.slice(1)
    return name.includes('/') ? parseTeamPrincipal(name) : parseUserPrincipal(name)
  }
  return emailPattern.test(text) ? { kind: 'email', address: text.toLowerCase() } : undefined
}

/**
 * The pattern as segments from the root. A slash before the end anchors the pattern. A slash at the end matches
 * everything below.
 */
function splitCodeownersPattern(pattern: string): readonly string[] | undefined {
  if (pattern === '/') return undefined
  const anchored = pattern.slice(0, -1).includes('/')
  const directory = pattern.endsWith('/')
  const body = pattern.replace(/^\//, '').replace(/\/$/, '')
  const parts = body.split('/')
  if (parts.some((part) => part === '')) return undefined
  const segments = anchored || parts[0] === '**' ? parts : ['**', ...parts]
  return directory ? [...segments, '**'] : segments
}

/** Whether the segments match the file or (unless they end in `*`) a directory above it. */
function matchesCodeownersPathPattern(
  segments: readonly CodeownersPatternSegment[],
  parts: readonly string[],
): boolean {
  const last = segments.at(-1)
  const isBelowOnly = last === '**' || last?.text === '*'
  const memo = new Map<number, boolean>()
  const from = (segment: number, part: number): boolean =>
    getOrCreate(memo, segment * (parts.length + 1) + part, () => step(segment, part))
  const step = (segment: number, part: number): boolean => {
    const pattern = segments[segment]
    // `docs/*` matches only files directly in docs; a plain name matches the directory's whole content.
    if (pattern === undefined) return part === parts.length || !isBelowOnly
    if (pattern === '**')
      // A final `**` matches at least one segment.
      return segment === segments.length - 1
        ? part < parts.length
        : from(segment + 1, part) || (part < parts.length && from(segment, part + 1))
    const name = parts[part]
    if (name === undefined) return false
    const { text, isPlain, glob } = pattern
    return (isPlain ? text === name : matchesGlob(glob, name)) && from(segment + 1, part + 1)
  }
  return from(0, 0)
}

/** `*` matches any text within a name, `?` one character; a backslash escapes the next character. */
function parseCodeownersPatternSegment(pattern: string): CodeownersPatternSegment {
  if (pattern === '**') return pattern
  const characters = [...pattern]
  const pieces: GlobToken[] = []
  for (let at = 0; at < characters.length; at += 1) {
    const character = characters[at] ?? ''
    const escaped = character === '\\' ? characters[at + 1] : undefined
    if (escaped !== undefined) at += 1
    if (escaped === undefined && character === '*') pieces.push({ kind: 'star' })
    else if (escaped === undefined && character === '?') pieces.push({ kind: 'any' })
    else pieces.push({ kind: 'one', character: escaped ?? character })
  }
  return { text: pattern, isPlain: !/[*?\\]/.test(pattern), glob: { pieces } }
}
