// Patches of text, judged by git: whatever is patched becomes exactly what it should.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { linePatch } from '../../../../src/checks/validation/templates/line-patch.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'patch-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

const limits = { edits: 200, characters: 100_000 }
function applied(before: string, patch: string): string {
  writeFileSync(join(folder, 'c.yaml'), before)
  execFileSync('git', ['apply', '--recount', '-'], {
    cwd: folder,
    input: patch,
    env: { PATH: process.env.PATH },
  })
  execFileSync('git', ['apply', '--check', '-R', '-'], {
    cwd: folder,
    input: patch,
    env: { PATH: process.env.PATH },
  })
  return readFileSync(join(folder, 'c.yaml'), 'utf8')
}
/** Numbers that look random and are the same each time. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) yield (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648
}

describe('a patch', () => {
  test('of two hundred random texts makes the one of the other, as git applies it', () => {
    const random = numbers(7)
    const below = (end: number) => Math.floor(random.next().value * end)
    for (let round = 0; round < 200; round++) {
      const old = Array.from({ length: 1 + below(40) }, () => `line ${below(12)}`)
      const now = old.flatMap(
        (line) => [[], [line], [line], [line], [line], [`new ${below(3)}`, line]][below(6)] ?? [],
      )
      const [before, after] = [`${old.join('\n')}\n`, `${[...now, 'end'].join('\n')}\n`]
      const patch = linePatch('c.yaml', before, after, limits)
      if (before === after) expect(patch).toBeUndefined()
      else expect(applied(before, patch ?? '')).toBe(after)
    }
  })
  test('shows what is far apart in hunks of its own', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    const after = lines.with(2, 'two').with(35, 'more')
    const patch = linePatch('c.yaml', `${lines.join('\n')}\n`, `${after.join('\n')}\n`, limits)
    expect(patch?.match(/^@@ .*$/gm)).toEqual(['@@ -1,6 +1,6 @@', '@@ -33,7 +33,7 @@'])
  })
  test('is not made of what differs too much, nor of a last line that is none', () => {
    const text = (prefix: string) => Array.from({ length: 50 }, (_, index) => `${prefix}${index}\n`).join('')
    expect(linePatch('c', text('a'), text('b'), { ...limits, edits: 99 })).toBeUndefined()
    expect(linePatch('c', text('a'), text('b'), { ...limits, edits: 100 })).toBeDefined()
    expect(linePatch('c', 'a\n', 'b\n', { ...limits, characters: 10 })).toBeUndefined()
    expect(linePatch('c', 'a\n', 'b', limits)).toBeUndefined()
  })
})
