// A configuration that is too large to be read is none that could be trusted in part.
import { expect, test } from '@jest/globals'
import { blobSha, treeSha } from '../../src/change/ids.ts'
import { readConfig } from '../../src/examine/read-config.ts'
import { GitError } from '../../src/git/git-error.ts'
import type { Repository } from '../../src/ports/repository.ts'
import { sha } from '../gate/build.ts'

/** A repository whose configuration has this text. */
function repositoryOf(text: string): Repository {
  const bytes = new TextEncoder().encode(text)
  return {
    entry: () => Promise.resolve({ mode: '100644', oid: blobSha(sha('1')) }),
    read: (_: unknown, limit = Infinity) =>
      bytes.length > limit
        ? Promise.reject(new GitError('too-large', 'it is large'))
        : Promise.resolve(bytes),
  } as unknown as Repository
}
const findings = async (text: string) => (await readConfig(repositoryOf(text), treeSha(sha('2')))).findings

test('one of 128 KB is read, one that is larger is an error of the configuration', async () => {
  const line = '# a comment of a maintainer who has much to say\n'
  const long = line.repeat(Math.floor((128 * 1024) / line.length))
  expect(await findings(long)).toEqual([])
  expect((await findings(long + line)).length).toBeGreaterThan(0)
})
