// Checks text patches with git: each patched file must match the expected text exactly.
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from '@jest/globals'
import { createUnifiedDiff } from '../../../../src/checks/validation/templates/suggest-patch.ts'
import { createSelfRemovingDirectory } from '../../../temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('patch')

const limits = { edits: 200, characters: 100_000 }
/** Applies one patch for all files with git, checks that it can be reverted, and returns the patched files. */
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
/** Pseudorandom numbers, the same in every run. */
function* generateRandomNumbers(seed: number): Generator<number, never> {
  for (let state = seed; ;) yield (state = (state * 1103515245 + 12345) % 2147483648) / 2147483648
}

describe('a patch', () => {
  test('between 200 random pairs of texts produces the expected text when git applies it', () => {
    const random = generateRandomNumbers(7)
    const below = (end: number) => Math.floor(random.next().value * end)
    const [texts, wanted, patches] = [new Map<string, string>(), new Map<string, string>(), [] as string[]]
    for (let round = 0; round < 200; round++) {
      const old = Array.from({ length: 1 + below(40) }, () => `line ${below(12)}`)
      const now = old.flatMap(
        (line) => [[], [line], [line], [line], [line], [`new ${below(3)}`, line]][below(6)] ?? [],
      )
      const [before, after] = [`${old.join('\n')}\n`, `${[...now, 'end'].join('\n')}\n`]
      const name = `c${round}.yaml`
      const patch = createUnifiedDiff(name, before, after, limits)
      expect(patch === undefined).toBe(before === after)
      if (patch === undefined) continue
      texts.set(name, before)
      wanted.set(name, after)
      // The header shows git where each patch starts; git recounts the lines itself.
      patches.push(`diff --git a/${name} b/${name}\n${patch}`)
    }
    expect(patches.length).toBeGreaterThan(150)
    expect(applyPatchWithGit(texts, patches.join(''))).toEqual(wanted)
  })
  test('shows distant changes in separate hunks', () => {
    const lines = Array.from({ length: 40 }, (_, index) => `line ${index}`)
    const after = lines.with(2, 'two').with(35, 'more')
    const patch = createUnifiedDiff('c.yaml', `${lines.join('\n')}\n`, `${after.join('\n')}\n`, limits)
    expect(patch?.match(/^@@ .*$/gm)).toEqual(['@@ -1,6 +1,6 @@', '@@ -33,7 +33,7 @@'])
  })
  test('is not created above the edit or character limit, or if the last line has no newline', () => {
    const text = (prefix: string) => Array.from({ length: 50 }, (_, index) => `${prefix}${index}\n`).join('')
    expect(createUnifiedDiff('c', text('a'), text('b'), { ...limits, edits: 99 })).toBeUndefined()
    expect(createUnifiedDiff('c', text('a'), text('b'), { ...limits, edits: 100 })).toBeDefined()
    expect(createUnifiedDiff('c', 'a\n', 'b\n', { ...limits, characters: 10 })).toBeUndefined()
    expect(createUnifiedDiff('c', 'a\n', 'b', limits)).toBeUndefined()
  })
})
