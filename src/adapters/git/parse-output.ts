// Parses Git's output with `-z`: raw differences, tree listings, and merge results. Records end with NUL, so no path
// can pretend to be another record (T03, T08).
import { toBlobSha, toTreeSha, type TreeSha } from '../../pull-request/ids.ts'
import type { PathChange, TreeEntry } from '../../pull-request/change.ts'
import { GitError } from './git-error.ts'

const strictUtf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const absentFileMode = '000000'

/** `diff-tree -r -z --raw`: `:mode mode oid oid status NUL path NUL`, sorted by path. */
export function parseRawDiff(output: Buffer): readonly PathChange[] {
  const changes: PathChange[] = []
  const fields = splitNulTerminatedFields(output)
  for (let at = 0; at < fields.length; at += 2) {
    const head = fields[at]?.toString('latin1') ?? ''
    const path = fields[at + 1]
    const match = /^:(\d{6}) (\d{6}) ([0-9a-f]+) ([0-9a-f]+) [AMDT]$/.exec(head)
    if (!match || !path) throw createGitOutputError('diff-tree', head)
    const [, modeBefore = '', modeAfter = '', oidBefore = '', oidAfter = ''] = match
    changes.push({
      path: decodePath(path),
      ...(modeBefore === absentFileMode ? {} : { before: { mode: modeBefore, oid: toBlobSha(oidBefore) } }),
      ...(modeAfter === absentFileMode ? {} : { after: { mode: modeAfter, oid: toBlobSha(oidAfter) } }),
    })
  }
  return changes.sort(compareByPath)
}

/** `ls-tree -r -z`: `mode type oid TAB path NUL`, sorted by path; `prefix` is put before every path. */
export function parseLsTreeOutput(output: Buffer, prefix: string): readonly ({ path: string } & TreeEntry)[] {
  return splitNulTerminatedFields(output)
    .map((field) => {
      const tab = field.indexOf(0x09)
      const head = field.subarray(0, Math.max(tab, 0)).toString('latin1')
      const match = /^(\d{6}) (?:blob|commit) ([0-9a-f]+)$/.exec(head)
      if (!match) throw createGitOutputError('ls-tree', head)
      const [, mode = '', oid = ''] = match
      return { path: prefix + decodePath(field.subarray(tab + 1)), mode, oid: toBlobSha(oid) }
    })
    .sort(compareByPath)
}

/** `merge-tree --write-tree -z --name-only`: the tree, then the conflicted paths up to an empty field. */
export function parseMergeTreeOutput(output: Buffer): {
  readonly tree: TreeSha
  readonly conflicted: readonly string[]
} {
  const [tree, ...rest] = splitNulTerminatedFields(output)
  const id = tree?.toString('latin1').trim() ?? ''
  const end = rest.findIndex((field) => field.length === 0)
  const names = end < 0 ? rest : rest.slice(0, end)
  try {
    return { tree: toTreeSha(id), conflicted: [...new Set(names.map(decodePath))].sort() }
  } catch {
    throw createGitOutputError('merge-tree', id)
  }
}

/** The entries directly in a tree, from the tree object's own bytes: `mode SP name NUL oid`, oids of `width` bytes. */
export function* parseTreeObject(
  bytes: Buffer,
  width: number,
): Generator<{ readonly mode: string; readonly name: Buffer; readonly oid: string }> {
  for (let at = 0; at < bytes.length;) {
    const space = bytes.indexOf(0x20, at)
    const nul = bytes.indexOf(0, space)
    if (space < 0 || nul < 0 || nul + 1 + width > bytes.length) throw createGitOutputError('tree object', '')
    yield {
      mode: bytes.toString('latin1', at, space).padStart(6, '0'),
      name: bytes.subarray(space + 1, nul),
      oid: bytes.toString('hex', nul + 1, nul + 1 + width),
    }
    at = nul + 1 + width
  }
}

function splitNulTerminatedFields(output: Buffer): Buffer[] {
  const fields: Buffer[] = []
  for (let at = 0; at < output.length;) {
    const end = output.indexOf(0, at)
    if (end < 0)
      throw new GitError('corrupt', 'the git output ended in the middle of a record', { retryable: true })
    fields.push(output.subarray(at, end))
    at = end + 1
  }
  return fields
}

function createGitOutputError(command: string, text: string): GitError {
  return new GitError(
    'corrupt',
    `the output of ${command} cannot be parsed: ${JSON.stringify(text.slice(0, 80))}`,
  )
}

// Converts paths between Git's bytes and strings without loss. A byte that is not part of valid UTF-8 becomes the lone
// surrogate U+DC00 + byte, so different paths remain different strings, and odd paths are checked (T08), not dropped.
export function decodePath(bytes: Uint8Array): string {
  try {
    return strictUtf8Decoder.decode(bytes)
  } catch {
    return decodePathWithInvalidUtf8(bytes)
  }
}

export function encodePath(path: string): Buffer {
  if (path.isWellFormed()) return Buffer.from(path, 'utf8')
  const parts: Buffer[] = []
  for (const character of path) {
    const code = character.codePointAt(0) ?? 0
    if (code >= 0xdc80 && code <= 0xdcff) parts.push(Buffer.from([code - 0xdc00]))
    else parts.push(Buffer.from(character, 'utf8'))
  }
  return Buffer.concat(parts)
}

/** Order by UTF-16 units, like `<` on strings, regardless of the order in which Git lists them. */
export function compareByPath(a: { readonly path: string }, b: { readonly path: string }): number {
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

/** A valid character of several bytes, or one byte that is not part of one. */
const utf8CharacterPattern =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g

function decodePathWithInvalidUtf8(bytes: Uint8Array): string {
  const text = Buffer.from(bytes).toString('latin1')
  return text.replaceAll(utf8CharacterPattern, (character) =>
    character.length > 1
      ? Buffer.from(character, 'latin1').toString('utf8')
      : String.fromCharCode(0xdc00 + character.charCodeAt(0)),
  )
}
