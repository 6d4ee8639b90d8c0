// `merging`: on the store itself, through the App that uses it, and with an error message if neither is available. The former
// names (`landings`, `stop`, `resume`) do the same.
import { once } from 'node:events'
import { request } from 'node:http'
import { join } from 'node:path'
import { expect, test } from '@jest/globals'
import pino from 'pino'
import { getControlSocketPath, startControlSocketServer } from '../../src/server/control-socket.ts'
import { getStoreFolder } from '../../src/jobs/settings.ts'
import { openStore } from '../../src/adapters/store/store.ts'
import { copyPreparedStore } from '../adapters/store/prepared-store.ts'
import { realTimeClock } from '../adapters/store/sample-records.ts'
import { runCatalogBotInDirectory } from './command.ts'
import { createSelfRemovingDirectory } from '../temporary-directory.ts'

const temporaryDirectory = createSelfRemovingDirectory('merging')
const runMergingCommand = (...parameters: string[]) =>
  runCatalogBotInDirectory(temporaryDirectory, 'merging', ...parameters)
const runDeprecatedAliasCommand = (...parameters: string[]) =>
  runCatalogBotInDirectory(temporaryDirectory, 'landings', ...parameters)
const repositoryArguments = ['--repository', 'o/R']

test('freeze, list and unfreeze through a running App and without one', async () => {
  expect(await runMergingCommand()).toMatchObject({
    code: 2,
    err: expect.stringContaining('no store found in data'),
  })
  const dataDirectory = getStoreFolder(join(temporaryDirectory, 'data'))
  await copyPreparedStore(dataDirectory)
  const store = await openStore({ dataDirectory, clock: realTimeClock })
  const unanswered = await runMergingCommand()
  const socket = await startControlSocketServer(join(temporaryDirectory, 'data'), {
    store,
    log: pino({ level: 'silent' }),
  })
  try {
    // The store was in use, and no socket existed yet.
    expect(unanswered).toMatchObject({ code: 2, err: expect.stringContaining('does not respond at') })
    expect(
      await runMergingCommand(
        'freeze',
        ...repositoryArguments,
        '--branch',
        'main',
        '--reason',
        'release \u001b[31mday',
      ),
    ).toMatchObject({
      code: 0,
      out: expect.stringMatching(
        /^o\/R main: merging into main was frozen by .* \(command line\) at .*: release [^\u001b]*day/,
      ),
    })
    expect(await store.listFreezes()).toMatchObject([
      { repository: { owner: 'o', name: 'R' }, branch: 'main', kind: 'frozen', by: { kind: 'command-line' } },
    ])
    // Every byte arrives on its own.
    const socketPath = getControlSocketPath(join(temporaryDirectory, 'data'))
    const sent = request({ socketPath, method: 'POST' })
    const [repository, reason, user] = [{ owner: 'o', name: 'other' }, 'Übung', 'u']
    const wanted = JSON.stringify({ verb: 'stop', repository, reason, user })
    for (const byte of Buffer.from(wanted)) sent.write(Buffer.of(byte))
    await once(sent.end(), 'response')
    expect(await store.listFreezes()).toContainEqual(expect.objectContaining({ reason }))
    await store.freezeMerges({
      repository: { owner: 'o', name: 'R' },
      branch: 'main',
      kind: 'audit',
      reason: 'x',
      by: { kind: 'bot' },
    })
    for (const run of [runMergingCommand('freeze'), runDeprecatedAliasCommand('stop')])
      expect(await run).toMatchObject({ code: 2, err: expect.stringContaining('requires --repository') })
    // Another repository, because opening the store for a command without the App takes two seconds.
    for (const run of [
      runMergingCommand('unfreeze', '--repository', 'o/n'),
      runDeprecatedAliasCommand('resume', '--repository', 'o/n'),
    ])
      // prettier-ignore
      expect(await run).toMatchObject({ code: 1, err: expect.stringContaining('Nothing was frozen.') })
  } finally {
    await socket.close()
    await store.close()
  }
  const unfrozen = await runMergingCommand('unfreeze', ...repositoryArguments)
  expect(unfrozen).toMatchObject({ code: 0, err: expect.stringContaining('unfreeze with --audit') })
  const all = await runDeprecatedAliasCommand('resume', ...repositoryArguments, '--audit', '--json')
  expect(JSON.parse(all.out)).toMatchObject({ changed: [{ kind: 'audit' }], stops: [] })
  expect((await runMergingCommand('list', ...repositoryArguments)).out).toMatch(
    /^No branch is frozen\.\n\n[^]* unfreeze \(merge verification failed\) main by [^]* freeze \(manual\) main by /,
  )
})
