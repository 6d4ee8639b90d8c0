// Patches of text, judged by git: whatever is patched becomes exactly what it should.
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createLinePatch } from '../../../../src/checks/validation/templates/line-patch.ts'

let temporaryDirectory: string
beforeAll(() => {
  temporaryDirectory = mkdtempSync(join(tmpdir(), 'patch-'))
})
afterAll(() => rmSync(temporaryDirectory, { recursive: true }))

const patchLimits = { edits: 200, characters: 100_000 }
/** What git makes of files by one patch of them all, which it can also take back. */
function applyPatchWithGit(before: ReadonlyMap<string, string>, patch: string): Map<string, string> {
  for (const [name, text] of before) writeFileSync(join(temporaryDirectory, name), text)
  const apply = (...options: readonly string[]) =>
    execFileSync('git', ['apply', ...options, '-'], {
      cwd: temporaryDirectory,
      input: patch,
      env: { PATH: process.env.PATH },
    })
  apply('--recount')
  apply('--check', '-R')
  return new Map(
    [...before.keys()].map((name) => [name, readFileSync(join(temporaryDirectory, name), 'utf8')]),
  )
}
/** Numbers that look random and are the same each time. */
function* generateNumbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) yield (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648
}

describe('a patch', () => {
  test('of two hundred random texts makes the one of the other, as git applies it', () => {
    const random = generateNumbers(7)
    const below = (end: number) => Math.floor(random.next().value * end)
    const [texts, wanted, patches] = [new Map<string, string>(), new Map<string, string>(), [] as string[]]
    for (let round = 0; round < 200; round++) {
      const old = Array.from({ length: 1 + below(40) }, () => `line ${below(12)}`)
      const now = old.flatMap(
        (line) => [[], [line], [line], [line], [line], [`new ${below(3)}`, line]][below(6)] ?? [],
      )
      const [before, after] = [`${old.join('\n')}\n`, `${[...now, 'end'].join('\n')}\n`]
      const name = `c${round}.yaml`
      const patch = createLinePatch(name, before, after, patchLimits)
      expect(patch === undefined).toBe(before === after)
      if (patch === undefined) continue
      texts.set(name, before)
      wanted.set(name, after)
      // So git knows where one ends: it counts their lines itself.
      patches.push(`diff --git a/${name} b/${name}\n${patch}`)
    }
    expect(patches.length).toBeGreaterThan(150)
    expect(applyPatchWithGit(texts, patches.join(''))).toEqual(wanted)
  })
  test('shows what is far apart in hunks of its own', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    const after = lines.with(2, 'two').with(35, 'more')
    const patch = createLinePatch('c.yaml', `${lines.join('\n')}\n`, `${after.join('\n')}\n`, patchLimits)
    expect(patch?.match(/^@@ .*$/gm)).toEqual(['@@ -1,6 +1,6 @@', '@@ -33,7 +33,7 @@'])
  })
  test('is not made of what differs too much, nor of a last line that is none', () => {
    const text = (prefix: string) => Array.from({ length: 50 }, (_, index) => `${prefix}${index}\n`).join('')
    expect(createLinePatch('c', text('a'), text('b'), { ...patchLimits, edits: 99 })).toBeUndefined()
    expect(createLinePatch('c', text('a'), text('b'), { ...patchLimits, edits: 100 })).toBeDefined()
    expect(createLinePatch('c', 'a\n', 'b\n', { ...patchLimits, characters: 10 })).toBeUndefined()
    expect(createLinePatch('c', 'a\n', 'b', patchLimits)).toBeUndefined()
  })
})
