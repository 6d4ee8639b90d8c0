// A commit that we write has the same ID as one that git writes.
import { afterAll, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { toCommitSha } from '../../../src/pull-request/ids.ts'
import { writeCommit } from '../../../src/adapters/git/merge.ts'
import { createOriginRepository, createTemporaryDirectory } from './origin.ts'

const temporaryDirectory = createTemporaryDirectory('write-commit')
const originRepository = createOriginRepository(join(temporaryDirectory.path, 'origin.git'))
afterAll(() => temporaryDirectory.remove())

test.each(['Merge\n\nof é and 💥\n', 'no end of line', '', '\n\nblank lines \n\n\n', 'a: b\n\nc'])(
  'a commit has the same bytes as from git: %j',
  async (message) => {
    const [base, head] = [originRepository.commit({ a: '1' }), originRepository.commit({ a: '2' })]
    const tree = originRepository.tree(head)
    const id = await writeCommit(originRepository.directory, {
      tree,
      parents: [base, head],
      by: 'Zoë Bot[bot] <1+x@example.com> 1700000000 +0000',
      message,
    })
    // The object is valid, and no temporary file is left.
    expect(originRepository.git(['cat-file', '-t', id])).toBe('commit')
    expect(originRepository.git(['fsck', '--strict', id])).not.toMatch(/error|corrupt/)
    const objects = join(originRepository.directory, 'objects', id.slice(0, 2))
    expect(readdirSync(objects).filter((name) => name.startsWith('tmp'))).toEqual([])
    const settings = ['user.name=Zoë Bot[bot]', 'user.email=1+x@example.com']
    // `commit-tree` takes the dates from the environment alone, so its commit is compared without them.
    const theirs = toCommitSha(
      originRepository.git(
        [...settings.flatMap((one) => ['-c', one]), 'commit-tree', '-p', base, '-p', head, tree],
        message,
      ),
    )
    const withoutDates = (commit: string) =>
      originRepository.git(['cat-file', 'commit', commit]).replaceAll(/> \d+ [+-]\d+$/gm, '>')
    expect(withoutDates(id)).toBe(withoutDates(theirs))
    expect(
      await writeCommit(originRepository.directory, {
        tree,
        parents: [base, head],
        by: 'Zoë Bot[bot] <1+x@example.com> 1700000000 +0000',
        message,
      }),
    ).toBe(id)
  },
)
