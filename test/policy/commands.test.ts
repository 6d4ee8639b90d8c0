// Commands as an attack surface: who may give them, which commit they apply to, and that each works once.
import { describe, expect, test } from '@jest/globals'
import { commandNames } from '../../src/pull-request/command.ts'
import type { LookupRequest } from '../../src/checks/lookups.ts'
import type { CommandEvaluationInput } from '../../src/policy/commands.ts'
import {
  findApprovalsFromCommands,
  findActivePullHold,
  findMergeCommand,
  type CommandRecord,
} from '../../src/policy/command-records.ts'
import { computeCatalogChange, buildPackageBlob } from '../pull-request/build-catalog.ts'
import {
  answerLookup,
  createComment,
  createInput,
  decideAll,
  formatTimestampAtMinute,
  headShaA,
  headShaB,
  type LookupResult,
} from './command-scenario.ts'

const listCommandRecords = (given: CommandEvaluationInput): CommandRecord[] =>
  decideAll(given).decisions.map(({ record }) => record)
const listCommandOutcomes = (given: CommandEvaluationInput) =>
  listCommandRecords(given).map(({ outcome }) => outcome)

type CommandInputChanges =
  Parameters<typeof createInput> extends [unknown, ...infer Changes] ? Changes : never
const decideComment = (name: string, body: string, ...changes: CommandInputChanges) =>
  decideAll(createInput([createComment(name, body)], ...changes))
const listOutcomes = (name: string, body: string, ...changes: CommandInputChanges) =>
  listCommandOutcomes(createInput([createComment(name, body)], ...changes))

describe('T20: an approval applies to the head that was shown when the comment was written', () => {
  test('and takes effect while that commit is still the head', () => {
    const { decisions } = decideComment('olga', '/approve')
    expect(decisions).toMatchObject([
      { record: { outcome: 'done', head: headShaA, epoch: 0 }, reaction: '+1' },
    ])
  })
  test('a push between the comment and its execution voids it, and the answer names the new head', () => {
    const { decisions } = decideComment('olga', '/approve', {}, { head: headShaB }, { epoch: 1 })
    expect(decisions[0]?.record.outcome).toBe('stale')
    expect(decisions[0]?.answer).toContain('/approve bbbbbbbbbbbb')
  })
  test('a comment does not approve a head that was shown only after it', () => {
    const shown = [
      { head: headShaA, epoch: 0, at: formatTimestampAtMinute(5), change: 'c' },
      { head: headShaB, epoch: 1, at: formatTimestampAtMinute(11), change: 'c' },
    ]
    expect(listOutcomes('olga', '/approve', { shown }, { head: headShaB }, { epoch: 1 })).toEqual(['stale'])
  })
  test('a comment does not approve a head that was shown in the same second', () => {
    const shown = [{ head: headShaA, epoch: 0, at: formatTimestampAtMinute(10), change: 'c' }]
    expect(listOutcomes('olga', '/approve', { shown })).toEqual(['stale'])
  })
  test('a comment is stale if no head was shown before it', () => {
    expect(listOutcomes('olga', '/approve', { shown: [] })).toEqual(['stale'])
  })
  test('the order in which shown heads are stored does not matter', () => {
    const shown = [
      { head: headShaB, epoch: 1, at: formatTimestampAtMinute(6), change: 'c' },
      { head: headShaA, epoch: 0, at: formatTimestampAtMinute(5), change: 'c' },
    ]
    expect(listOutcomes('olga', '/approve', { shown }, { head: headShaB }, { epoch: 1 })).toEqual(['done'])
  })
})

describe('T21: a return to an old head does not restore a command', () => {
  test('with or without a commit in the command', () => {
    for (const body of ['/approve', `/approve ${headShaA.slice(0, 12)}`])
      expect(listOutcomes('olga', body, {}, {}, { epoch: 2 })).toEqual(['stale'])
  })
  test('a recorded approval keeps its epoch', () => {
    const approveComment = createComment('olga', '/approve')
    const [decision] = decideAll(createInput([approveComment])).decisions
    const records = decision ? [decision.record] : []
    expect(findApprovalsFromCommands(records, [approveComment])).toMatchObject([
      { epoch: 0, head: headShaA, user: 1002 },
    ])
  })
})

describe('T29: an edited or deleted comment is not a command', () => {
  test('if it is edited before the command is executed', () => {
    expect(
      listCommandOutcomes(
        createInput([createComment('olga', '/approve', { updatedAt: formatTimestampAtMinute(11) })]),
      ),
    ).toEqual([])
  })
  test('if a year-old comment is edited today', () => {
    const old = createComment('olga', '/approve', {
      createdAt: '2025-01-01T00:00:00Z',
      updatedAt: formatTimestampAtMinute(9),
    })
    expect(listCommandOutcomes(createInput([old]))).toEqual([])
  })
  test('and its approval is withdrawn if it is edited or deleted later', () => {
    const approveComment = createComment('olga', '/approve')
    const records = listCommandRecords(createInput([approveComment]))
    expect(findApprovalsFromCommands(records, [approveComment]).length).toBe(1)
    expect(findApprovalsFromCommands(records, [])).toEqual([])
    expect(
      findApprovalsFromCommands(records, [{ ...approveComment, updatedAt: formatTimestampAtMinute(12) }]),
    ).toEqual([])
  })
})

describe('T29: catalog-bot asks GitHub for edits that the timestamps of a comment do not show', () => {
  const edits = (answerTo: LookupResult) => (question: LookupRequest) =>
    question.kind === 'comment' ? answerTo : answerLookup(question)
  test('a comment that was edited within the second of its creation is not a command', () => {
    for (const name of commandNames)
      expect(
        decideAll(createInput([createComment('maria', `/${name}`)]), edits({ kind: 'edited' })).decisions,
      ).toEqual([])
  })
  test('an inconclusive answer delays the command and those after it', () => {
    const unknown = { kind: 'unknown', reason: 'GitHub answered 503', retryAfter: 9 } as const
    const { decisions, open } = decideAll(
      createInput([createComment('maria', '/approve'), createComment('olga', '/hold')]),
      edits(unknown),
    )
    expect(decisions).toEqual([])
    expect(open).toMatchObject([{ reason: 'GitHub answered 503', retryAfter: 9 }])
  })
  test('a recorded approval is withdrawn if its comment now contains something else', () => {
    const approveComment = createComment('olga', '/approve')
    const records = listCommandRecords(createInput([approveComment]))
    expect(findApprovalsFromCommands(records, [{ ...approveComment, body: '/hold' }])).toEqual([])
    expect(findApprovalsFromCommands(records, [{ ...approveComment, body: 'never mind' }])).toEqual([])
  })
  test('GitHub is not asked about comments that cannot take effect', () => {
    const askedQuestions: string[] = []
    decideAll(
      createInput([
        createComment('mallory', '/approve'),
        createComment('olga', 'fine'),
        createComment('robot', '/approve'),
      ]),
      (question) => {
        askedQuestions.push(question.kind)
        return answerLookup(question)
      },
    )
    expect(askedQuestions).not.toContain('comment')
  })
})

describe('T31: who may give which command', () => {
  const given = (command: string) =>
    command === 'override' ? '/override bundle-edited because it is meant' : `/${command}`
  const table: Readonly<Record<string, readonly string[]>> = {
    alice: ['approve', 'hold', 'recheck', 'help'],
    olga: ['approve', 'hold', 'recheck', 'merge', 'preview', 'help'],
    maria: commandNames,
    mallory: ['help'],
    robot: [],
  }
  for (const [name, may] of Object.entries(table))
    for (const command of commandNames)
      test(`${name} ${may.includes(command) ? 'may' : 'may not'} give /${command}`, () => {
        const { decisions } = decideComment(name, given(command))
        expect(decisions.map(({ record }) => record.outcome)).toEqual(
          name === 'robot' ? [] : [may.includes(command) ? 'done' : 'denied'],
        )
      })
  test('a closed or merged pull request accepts only /rollback, and only from maintainers', () => {
    for (const state of ['closed', 'merged'] as const)
      for (const command of commandNames)
        expect(listOutcomes('maria', `/${command}`, {}, { state })).toEqual(
          command === 'rollback' ? ['done'] : [],
        )
    expect(listOutcomes('olga', '/rollback', {}, { state: 'merged' })).toEqual(['denied'])
    expect(listOutcomes('maria', '/rollback x\n/hold', {}, { state: 'merged' })).toEqual([])
  })
  test('another /hold does not let its user remove the hold of someone else', () => {
    const comments = [
      createComment('olga', '/hold'),
      createComment('alice', '/hold'),
      createComment('alice', '/unhold'),
    ]
    const records = listCommandRecords(createInput(comments))
    expect(records.map(({ outcome }) => outcome)).toEqual(['done', 'done', 'denied'])
    expect(findActivePullHold(records, createInput(comments).check)?.login).toBe('olga')
    // A maintainer removes both, and then a new hold belongs to its user alone.
    const later = [
      createComment('maria', '/unhold'),
      createComment('alice', '/hold'),
      createComment('alice', '/unhold'),
    ]
    const input = createInput([...comments, ...later], { records })
    expect(listCommandOutcomes(input)).toEqual(['done', 'done', 'done'])
    expect(findActivePullHold(decideAll(input).records, input.check)).toBeUndefined()
  })
  test('only the holder or a maintainer can remove a hold, and only for the current head', () => {
    const held = listCommandRecords(createInput([createComment('olga', '/hold')]))
    expect(findActivePullHold(held, createInput([]).check)?.login).toBe('olga')
    const unhold = createComment('maria', '/unhold')
    expect(listOutcomes('olga', '/unhold', { records: held })).toEqual(['done'])
    expect(listOutcomes('alice', '/unhold', { records: held })).toEqual(['denied'])
    const lifted = decideAll(createInput([unhold], { records: held })).decisions
    const all = [...held, ...lifted.map(({ record }) => record)]
    expect(findActivePullHold(all, createInput([unhold]).check)).toBeUndefined()
    expect(findActivePullHold(all, createInput([]).check)).toMatchObject({ login: 'olga', isBack: true })
    expect(findActivePullHold(all, createInput([unhold], {}, { head: headShaB }).check)?.isBack).toBe(true)
  })
  describe('/freeze and /thaw are for maintainers, and for the branch that they name', () => {
    const answerWithBranches =
      (...branches: string[]) =>
      (question: LookupRequest): LookupResult =>
        question.kind === 'branch'
          ? { kind: branches.includes(question.branch) ? 'yes' : 'no' }
          : answerLookup(question)
    test.each([
      ['/freeze', 'main', '', ['frozen']],
      ['/freeze main', 'main', '', ['frozen']],
      ['/freeze main release  day', 'main', 'release day', ['frozen']],
      ['/freeze v1 release day', 'v1', 'release day', ['frozen']],
      ['/freeze release day', 'main', 'release day', ['frozen']],
      ['/freeze (sorry) back soon', 'main', '(sorry) back soon', ['frozen']],
      ['/freeze all hands', undefined, 'hands', ['frozen']],
      ['/thaw all', undefined, '', ['frozen', 'refused']],
      ['/thaw', 'main', '', ['frozen', 'refused']],
      ['/thaw v1', 'v1', '', ['frozen', 'refused']],
      ['/thaw audit', 'main', '', ['audit']],
      ['/thaw v1 audit', 'v1', '', ['audit']],
      ['/unfreeze v1 audit', 'v1', '', ['audit']],
    ])('%s', (body, branch, reason, kinds) => {
      const { decisions } = decideAll(createInput([createComment('maria', body)]), answerWithBranches('v1'))
      expect(decisions).toMatchObject([
        { record: { outcome: 'done', stop: { reason, kinds } }, reaction: '+1' },
      ])
      expect(decisions[0]?.record.stop?.branch).toBe(branch)
    })
    test.each(['/thaw v2', '/thaw v1 please', '/thaw mian audit'])(
      '%s does not unfreeze anything',
      (body) => {
        const { decisions } = decideAll(createInput([createComment('maria', body)]), answerWithBranches('v1'))
        expect(decisions).toMatchObject([{ record: { outcome: 'unclear' }, reaction: 'confused' }])
        expect(decisions[0]?.record).not.toHaveProperty('stop')
      },
    )
    test('are denied to authors, owners, and other accounts', () => {
      for (const name of ['alice', 'olga', 'mallory'])
        for (const body of ['/freeze', '/thaw', '/thaw audit']) {
          const { decisions } = decideComment(name, body)
          expect(decisions).toMatchObject([{ record: { outcome: 'denied' }, reaction: '-1' }])
          expect(decisions[0]?.record).not.toHaveProperty('stop')
        }
    })
    test('wait if GitHub does not report whether the branch exists', () => {
      const unknown: LookupResult = { kind: 'unknown', reason: 'GitHub answered 503', retryAfter: 5 }
      const { decisions, open } = decideAll(
        createInput([createComment('maria', '/freeze v1')]),
        (question) => (question.kind === 'branch' ? unknown : answerLookup(question)),
      )
      expect(decisions).toEqual([])
      expect(open).toMatchObject([{ reason: 'GitHub answered 503' }])
    })
  })
  test('one account can give at most 30 commands, recent ones included', () => {
    const flood = Array.from({ length: 50 }, () => createComment('alice', '/recheck'))
    expect(decideAll(createInput(flood)).decisions.length).toBe(30)
    expect(decideAll(createInput(flood, { recent: new Map([[1001, 29]]) })).decisions.length).toBe(1)
  })
  test('more commands take effect only if they prevent merges, and only once', () => {
    const limit = (id: number) => ({ recent: new Map([[id, 30]]) })
    const listCommands = (name: string, id: number, ...bodies: string[]) => {
      const input = createInput(
        bodies.map((body) => createComment(name, body)),
        limit(id),
      )
      return listCommandRecords(input).map(({ command }) => command)
    }
    expect(listCommands('maria', 1003, '/hold', '/freeze', '/approve', '/unhold', '/unfreeze')).toEqual([
      'hold',
      'freeze',
    ])
    expect(listCommands('alice', 1001, '/hold', '/hold', '/freeze')).toEqual(['hold'])
    expect(listCommands('mallory', 1004, '/hold', '/freeze')).toEqual([])
  })
})

test('T27: unknown permissions are not assumed: the command and those after it wait', () => {
  const given = createInput([createComment('olga', '/approve'), createComment('maria', '/hold')])
  const { decisions, open } = decideAll(given, () => ({
    kind: 'unknown',
    reason: 'GitHub answered 503',
    retryAfter: 9,
  }))
  expect(decisions).toEqual([])
  expect(open.length).toBeGreaterThan(0)
})

describe('T50: a commit in a command is compared only with the head', () => {
  test('a prefix of the head and the full head are accepted', () => {
    expect(listOutcomes('olga', `/approve ${headShaA.slice(0, 7)}`)).toEqual(['done'])
    expect(listOutcomes('olga', `/merge ${headShaA}`)).toEqual(['done'])
  })
  test('any other commit is stale', () => {
    expect(listOutcomes('olga', `/approve ${headShaB}`)).toEqual(['stale'])
    expect(listOutcomes('olga', `/merge ${headShaA}aaaa`)).toEqual(['stale'])
  })
})

test('T57: comments by bots are ignored: a comment by a bot is not a command', () => {
  expect(
    listCommandOutcomes(createInput([createComment('robot', '/approve'), createComment('robot', '/help')])),
  ).toEqual([])
})

describe('I18: a command works once', () => {
  test('a recorded command is not decided again', () => {
    const approveComment = createComment('olga', '/approve')
    const records = listCommandRecords(createInput([approveComment]))
    expect(decideAll(createInput([approveComment], { records })).decisions).toEqual([])
  })
  test('a /merge applies only to its head, base branch, epoch, and change, while its comment exists', () => {
    const mergeComments = [createComment('maria', '/merge')]
    const records = listCommandRecords(createInput(mergeComments))
    expect(findMergeCommand(records, createInput(mergeComments).check)?.login).toBe('maria')
    expect(findMergeCommand(records, createInput([]).check)).toBeUndefined()
    expect(
      findMergeCommand(records, createInput(mergeComments, {}, { head: headShaB }, { epoch: 1 }).check),
    ).toBeUndefined()
    expect(
      findMergeCommand(records, createInput(mergeComments, {}, { baseRef: 'other' }).check),
    ).toBeUndefined()
    expect(findMergeCommand(records, createInput(mergeComments, {}, {}, { epoch: 2 }).check)).toBeUndefined()
    const change = computeCatalogChange({}, { 'catalog/foo/catalog.yaml': [buildPackageBlob('foo')] })
    expect(findMergeCommand(records, createInput(mergeComments, {}, {}, { change }).check)).toBeUndefined()
  })
})

describe('T48: a recorded command that allows a merge', () => {
  const held = createComment('olga', '/hold')
  const withMaintainers = (maintainers: string) => ({
    ownerFiles: {
      base: new Map([
        ['operators/foo/ci.yaml', 'reviewers: [olga]'],
        ['config.yaml', `maintainers: [${maintainers}]`],
      ]),
      result: new Map(),
    },
  })
  const commands = ['/unhold', '/merge', '/override bundle-edited because x']
  test.each(commands)('%s has no effect after its user lost the permission', (body) => {
    const comments = [held, createComment('maria', body)]
    const records = decideAll(createInput(comments)).decisions.map(({ record }) => record)
    const listCommandsInEffect = (maintainers: string, answer = answerLookup) => {
      const input = createInput(comments, { records }, {}, withMaintainers(maintainers))
      const { records: now, open } = decideAll(input, answer)
      const done = now.filter(({ outcome }) => outcome === 'done')
      return { inEffect: done.map(({ command }) => command), isOpen: open.length > 0 }
    }
    const all = records.map(({ command }) => command)
    expect(listCommandsInEffect('maria')).toEqual({ inEffect: all, isOpen: false })
    expect(listCommandsInEffect('carol')).toEqual({ inEffect: ['hold'], isOpen: false })
    const failing = { kind: 'unknown', reason: 'HTTP 500', retryAfter: 60 } as const
    expect(listCommandsInEffect('maria', () => failing)).toEqual({ inEffect: ['hold'], isOpen: true })
  })
  test.each(['/preview', '/test-install'])('%s has no effect either, on this head', (body) => {
    const comments = [createComment('maria', body)]
    const records = listCommandRecords(createInput(comments))
    const listOutcomesOfHead = (maintainers: string, head = headShaA) => {
      const input = createInput(comments, { records }, { head }, withMaintainers(maintainers))
      return decideAll(input).records.map(({ outcome }) => outcome)
    }
    expect(listOutcomesOfHead('maria')).toEqual(['done'])
    expect(listOutcomesOfHead('carol')).toEqual(['denied'])
    // No effect on another head, so nothing needs to be asked.
    expect(listOutcomesOfHead('carol', headShaB)).toEqual(['done'])
  })
  test('/unhold by the user who put the pull request on hold stays in effect', () => {
    const comments = [createComment('olga', '/hold'), createComment('olga', '/unhold')]
    const records = decideAll(createInput(comments)).decisions.map(({ record }) => record)
    const input = createInput(comments, { records }, {}, withMaintainers('carol'))
    expect(decideAll(input).records).toEqual(records)
  })
})
