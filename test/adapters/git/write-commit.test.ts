// A commit that we write is the one that git would have written.
import { afterAll, beforeAll, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toCommitSha } from '../../../src/pull-request/ids.ts'
import { writeCommit } from '../../../src/adapters/git/merge.ts'
import { createOriginRepository, createTemporaryDirectory, type OriginRepository } from './origin.ts'

const temporaryDirectory = createTemporaryDirectory('write-commit')
let origin: OriginRepository
beforeAll(() => {
  origin = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
})
afterAll(() => temporaryDirectory.remove())

test.each(['Merge\n\nof é and 💥\n', 'no end of line', '', '\n\nblank lines \n\n\n', 'a: b\n\nc'])(
  'has the bytes of git’s own: %j',
  async (message) => {
    const [base, head] = [origin.commit({ a: '1' }), origin.commit({ a: '2' })]
    const tree = origin.tree(head)
    const id = await writeCommit(origin.directory, {
      tree,
      parents: [base, head],
      by: 'Zoë Bot[bot] <1+x@example.com> 1700000000 +0000',
      message,
    })
    // It is there, whole, and leaves nothing beside it.
    expect(origin.git(['cat-file', '-t', id])).toBe('commit')
    expect(origin.git(['fsck', '--strict', id])).not.toMatch(/error|corrupt/)
    const objects = join(origin.directory, 'objects', id.slice(0, 2))
    expect(readdirSync(objects).filter((name) => name.startsWith('tmp'))).toEqual([])
    const settings = ['user.name=Zoë Bot[bot]', 'user.email=1+x@example.com']
    // `commit-tree` takes the dates from the environment alone, so its commit is compared without them.
    const theirs = toCommitSha(
      origin.git(
        [...settings.flatMap((one) => ['-c', one]), 'commit-tree', '-p', base, '-p', head, tree],
        message,
      ),
    )
    const withoutDates = (commit: string) =>
      origin.git(['cat-file', 'commit', commit]).replaceAll(/> \d+ [+-]\d+$/gm, '>')
    expect(withoutDates(id)).toBe(withoutDates(theirs))
    expect(
      await writeCommit(origin.directory, {
        tree,
        parents: [base, head],
        by: 'Zoë Bot[bot] <1+x@example.com> 1700000000 +0000',
        message,
      }),
    ).toBe(id)
  },
)
