// Commands as a surface for attacks: who gives them, what they are bound to, and that each works once.
import { describe, expect, test } from '@jest/globals'
import { commitSha, userId } from '../../src/change/ids.ts'
import type { Comment, Person, Snapshot } from '../../src/change/snapshot.ts'
import { commandNames } from '../../src/change/command.ts'
import type { CheckInput } from '../../src/checks/check.ts'
import { answersFrom, questionKey } from '../../src/checks/questions.ts'
import type { AnswerTo, Question } from '../../src/checks/questions.ts'
import { defaultConfig } from '../../src/config/config.ts'
import {
  approvalsFromCommands,
  askCommands,
  decideCommands,
  heldBy,
  mergeRequestedBy,
  type CommandInput,
  type CommandRecord,
} from '../../src/gate/commands.ts'
import { changeBetween, pkg } from '../change/build-catalog.ts'
import { aSnapshot, sha } from './build.ts'

const people: Readonly<Record<string, Person>> = {
  alice: { id: userId(1001), login: 'alice', kind: 'user' },
  olga: { id: userId(1002), login: 'Olga', kind: 'user' },
  maria: { id: userId(1003), login: 'maria', kind: 'user' },
  mallory: { id: userId(1004), login: 'mallory', kind: 'user' },
  robot: { id: userId(1005), login: 'robot[bot]', kind: 'bot' },
}
const who = (name: string): Person => people[name] ?? { id: userId(1), login: name, kind: 'user' }
const headA = commitSha(sha('a'))
const headB = commitSha(sha('b'))
const at = (minute: number) => `2026-01-01T00:${String(minute).padStart(2, '0')}:00Z`

let ids = 100
const comment = (name: string, body: string, more: Partial<Comment> = {}): Comment => ({
  id: (ids += 1),
  author: who(name),
  body,
  createdAt: at(10),
  updatedAt: at(10),
  ...more,
})

function input(
  comments: readonly Comment[],
  more: Partial<CommandInput> = {},
  snapshot: Partial<Snapshot> = {},
  check: Partial<CheckInput> = {},
): CommandInput {
  const base = { 'catalog/foo/catalog.yaml': [pkg('foo')] }
  return {
    check: {
      snapshot: aSnapshot({ author: who('alice'), head: headA, comments, ...snapshot }),
      config: defaultConfig,
      layout: { catalogs: [{ root: 'catalog' }] },
      change: changeBetween(base, { 'catalog/foo/catalog.yaml': [pkg('foo', 'fast')] }),
      basePaths: ['catalog/foo/catalog.yaml', 'config.yaml', 'operators/foo/ci.yaml'],
      ownerFiles: {
        base: new Map([
          ['operators/foo/ci.yaml', 'reviewers: [olga]'],
          ['config.yaml', 'maintainers: [maria]'],
        ]),
        result: new Map(),
      },
      approvals: [],
      epoch: 0,
      ...check,
    },
    shown: [{ head: headA, epoch: 0, at: at(5), change: 'c' }],
    change: 'c',
    records: [],
    ...more,
  }
}

type Answer = AnswerTo[keyof AnswerTo]
function answer(question: Question): Answer {
  if (question.kind === 'user') {
    const person = people[question.login]
    return person ? { kind: 'person', person } : { kind: 'nobody' }
  }
  if (question.kind === 'comment') return { kind: 'unedited' }
  return question.kind === 'role' ? { kind: 'role', role: 'read' } : { kind: 'no' }
}

function decide(given: CommandInput, world: (question: Question) => Answer = answer) {
  const known = new Map<string, Answer>()
  for (let round = 0; round < 6; round += 1)
    for (const question of askCommands(given, answersFrom(known)))
      known.set(questionKey(question), world(question))
  return decideCommands(given, answersFrom(known))
}
const outcomes = (given: CommandInput) => decide(given).decisions.map(({ record }) => record.outcome)

describe('T20: an approval is for the head that had been shown when it was written', () => {
  test('and takes effect while that is still the head', () => {
    const { decisions } = decide(input([comment('olga', '/approve')]))
    expect(decisions).toMatchObject([{ record: { outcome: 'done', head: headA, epoch: 0 }, reaction: '+1' }])
  })
  test('a push between the comment and its execution voids it, and the answer names the new head', () => {
    const { decisions } = decide(input([comment('olga', '/approve')], {}, { head: headB }, { epoch: 1 }))
    expect(decisions[0]?.record.outcome).toBe('stale')
    expect(decisions[0]?.answer).toContain('/approve bbbbbbbbbbbb')
  })
  test('a head that was shown only after the comment is not meant by it', () => {
    const shown = [
      { head: headA, epoch: 0, at: at(5), change: 'c' },
      { head: headB, epoch: 1, at: at(11), change: 'c' },
    ]
    expect(outcomes(input([comment('olga', '/approve')], { shown }, { head: headB }, { epoch: 1 }))).toEqual([
      'stale',
    ])
  })
  test('what was shown in the same second may have come later', () => {
    const shown = [{ head: headA, epoch: 0, at: at(10), change: 'c' }]
    expect(outcomes(input([comment('olga', '/approve')], { shown }))).toEqual(['stale'])
  })
  test('nothing was shown: ask again', () => {
    expect(outcomes(input([comment('olga', '/approve')], { shown: [] }))).toEqual(['stale'])
  })
  test('the order in which shown heads are remembered does not matter', () => {
    const shown = [
      { head: headB, epoch: 1, at: at(6), change: 'c' },
      { head: headA, epoch: 0, at: at(5), change: 'c' },
    ]
    expect(outcomes(input([comment('olga', '/approve')], { shown }, { head: headB }, { epoch: 1 }))).toEqual([
      'done',
    ])
  })
})

describe('T21: a return to an old head revives no command', () => {
  test('without and with the commit typed', () => {
    for (const body of ['/approve', `/approve ${headA.slice(0, 12)}`])
      expect(outcomes(input([comment('olga', body)], {}, {}, { epoch: 2 }))).toEqual(['stale'])
  })
  test('an approval on record stays in its epoch', () => {
    const said = comment('olga', '/approve')
    const [decision] = decide(input([said])).decisions
    const records = decision ? [decision.record] : []
    expect(approvalsFromCommands(records, [said])).toMatchObject([{ epoch: 0, head: headA, user: 1002 }])
  })
})

describe('T29: an edited or deleted comment commands nothing', () => {
  test('edited before it is carried out', () => {
    expect(outcomes(input([comment('olga', '/approve', { updatedAt: at(11) })]))).toEqual([])
  })
  test('a year-old comment that is edited today', () => {
    const old = comment('olga', '/approve', { createdAt: '2025-01-01T00:00:00Z', updatedAt: at(9) })
    expect(outcomes(input([old]))).toEqual([])
  })
  test('edited or deleted after it took effect: the approval is gone', () => {
    const said = comment('olga', '/approve')
    const records = decide(input([said])).decisions.map(({ record }) => record)
    expect(approvalsFromCommands(records, [said]).length).toBe(1)
    expect(approvalsFromCommands(records, [])).toEqual([])
    expect(approvalsFromCommands(records, [{ ...said, updatedAt: at(12) }])).toEqual([])
  })
})

describe('T29: who edited a comment is asked where its times do not tell', () => {
  const edits = (answerTo: Answer) => (question: Question) =>
    question.kind === 'comment' ? answerTo : answer(question)
  test('an edit within the second of its creation makes it no command', () => {
    for (const name of commandNames)
      expect(decide(input([comment('maria', `/${name}`)]), edits({ kind: 'edited' })).decisions).toEqual([])
  })
  test('what cannot be told is no command, and those after it wait', () => {
    const unknown = { kind: 'unknown', reason: 'GitHub answered 503', retryAfter: 9 } as const
    const { decisions, open } = decide(
      input([comment('maria', '/approve'), comment('olga', '/hold')]),
      edits(unknown),
    )
    expect(decisions).toEqual([])
    expect(open).toMatchObject([{ reason: 'GitHub answered 503', retryAfter: 9 }])
  })
  test('one that was made into another command since it was taken is none any more', () => {
    const said = comment('olga', '/approve')
    const records = decide(input([said])).decisions.map(({ record }) => record)
    expect(approvalsFromCommands(records, [{ ...said, body: '/hold' }])).toEqual([])
    expect(approvalsFromCommands(records, [{ ...said, body: 'never mind' }])).toEqual([])
  })
  test('nobody is asked about comments that may command nothing', () => {
    const asked: string[] = []
    decide(
      input([comment('mallory', '/approve'), comment('olga', 'fine'), comment('robot', '/approve')]),
      (question) => {
        asked.push(question.kind)
        return answer(question)
      },
    )
    expect(asked).not.toContain('comment')
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
        const { decisions } = decide(input([comment(name, given(command))]))
        expect(decisions.map(({ record }) => record.outcome)).toEqual(
          name === 'robot' ? [] : [may.includes(command) ? 'done' : 'denied'],
        )
      })
  test('on a pull request that is closed or merged maintainers roll back, and nobody gives any other', () => {
    for (const state of ['closed', 'merged'] as const)
      for (const command of commandNames)
        expect(outcomes(input([comment('maria', `/${command}`)], {}, { state }))).toEqual(
          command === 'rollback' ? ['done'] : [],
        )
    expect(outcomes(input([comment('olga', '/rollback')], {}, { state: 'merged' }))).toEqual(['denied'])
    expect(outcomes(input([comment('maria', '/rollback x\n/hold')], {}, { state: 'merged' }))).toEqual([])
  })
  test('whoever holds it lifts it; another owner does not', () => {
    const held = decide(input([comment('olga', '/hold')])).decisions.map(({ record }) => record)
    expect(heldBy(held, input([]).check)?.login).toBe('olga')
    const unhold = comment('maria', '/unhold')
    expect(outcomes(input([comment('olga', '/unhold')], { records: held }))).toEqual(['done'])
    expect(outcomes(input([comment('alice', '/unhold')], { records: held }))).toEqual(['denied'])
    const lifted = decide(input([unhold], { records: held })).decisions
    const all = [...held, ...lifted.map(({ record }) => record)]
    expect(heldBy(all, input([unhold]).check)).toBeUndefined()
    expect(heldBy(all, input([]).check)).toMatchObject({ login: 'olga', isBack: true })
    expect(heldBy(all, input([unhold], {}, { head: headB }).check)?.isBack).toBe(true)
  })
  describe('/freeze and /thaw are for maintainers, and for the branch that they name', () => {
    const world =
      (...branches: string[]) =>
      (question: Question): Answer =>
        question.kind === 'branch'
          ? { kind: branches.includes(question.branch) ? 'yes' : 'no' }
          : answer(question)
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
    ])('%s', (body, branch, reason, kinds) => {
      const { decisions } = decide(input([comment('maria', body)]), world('v1'))
      expect(decisions).toMatchObject([
        { record: { outcome: 'done', stop: { reason, kinds } }, reaction: '+1' },
      ])
      expect(decisions[0]?.record.stop?.branch).toBe(branch)
    })
    test.each(['/thaw v2', '/thaw v1 please', '/thaw mian audit'])('%s opens nothing', (body) => {
      const { decisions } = decide(input([comment('maria', body)]), world('v1'))
      expect(decisions).toMatchObject([{ record: { outcome: 'unclear' }, reaction: 'confused' }])
      expect(decisions[0]?.record).not.toHaveProperty('stop')
    })
    test('whoever froze it has no more say for that, and no owner or author has', () => {
      for (const name of ['alice', 'olga', 'mallory'])
        for (const body of ['/freeze', '/thaw', '/thaw audit']) {
          const { decisions } = decide(input([comment(name, body)]))
          expect(decisions).toMatchObject([{ record: { outcome: 'denied' }, reaction: '-1' }])
          expect(decisions[0]?.record).not.toHaveProperty('stop')
        }
    })
    test('waits where nobody knows whether there is such a branch', () => {
      const unknown: Answer = { kind: 'unknown', reason: 'GitHub answered 503', retryAfter: 5 }
      const { decisions, open } = decide(input([comment('maria', '/freeze v1')]), (question) =>
        question.kind === 'branch' ? unknown : answer(question),
      )
      expect(decisions).toEqual([])
      expect(open).toMatchObject([{ reason: 'GitHub answered 503' }])
    })
  })
  test('a flood of one account is not worked off', () => {
    const flood = Array.from({ length: 50 }, () => comment('alice', '/recheck'))
    expect(decide(input(flood)).decisions.length).toBe(30)
    expect(decide(input(flood, { recent: new Map([[1001, 29]]) })).decisions.length).toBe(1)
  })
})

describe('T27: rights that cannot be known are not assumed', () => {
  test('the command waits, and those after it keep their order', () => {
    const given = input([comment('olga', '/approve'), comment('maria', '/hold')])
    const { decisions, open } = decide(given, () => ({
      kind: 'unknown',
      reason: 'GitHub answered 503',
      retryAfter: 9,
    }))
    expect(decisions).toEqual([])
    expect(open.length).toBeGreaterThan(0)
  })
})

describe('T50: a commit that is typed is compared with the head alone', () => {
  test('its own beginning is taken', () => {
    expect(outcomes(input([comment('olga', `/approve ${headA.slice(0, 7)}`)]))).toEqual(['done'])
    expect(outcomes(input([comment('olga', `/merge ${headA}`)]))).toEqual(['done'])
  })
  test('any other commit, of whatever fork, is not', () => {
    expect(outcomes(input([comment('olga', `/approve ${headB}`)]))).toEqual(['stale'])
    expect(outcomes(input([comment('olga', `/merge ${headA}aaaa`)]))).toEqual(['stale'])
  })
})

describe('T57: bots talk to nobody', () => {
  test('a comment by any App is no command, also not one that quotes ours', () => {
    expect(outcomes(input([comment('robot', '/approve'), comment('robot', '/help')]))).toEqual([])
  })
})

describe('I18: a command works once', () => {
  test('what is on record is not decided again', () => {
    const said = comment('olga', '/approve')
    const records = decide(input([said])).decisions.map(({ record }) => record)
    expect(decide(input([said], { records })).decisions).toEqual([])
  })
  test('a request to land is for one state', () => {
    const said = [comment('maria', '/merge')]
    const records = decide(input(said)).decisions.map(({ record }): CommandRecord => record)
    expect(mergeRequestedBy(records, input(said).check)?.login).toBe('maria')
    expect(mergeRequestedBy(records, input([]).check)).toBeUndefined()
    expect(mergeRequestedBy(records, input(said, {}, { head: headB }, { epoch: 1 }).check)).toBeUndefined()
    expect(mergeRequestedBy(records, input(said, {}, { baseRef: 'other' }).check)).toBeUndefined()
    expect(mergeRequestedBy(records, input(said, {}, {}, { epoch: 2 }).check)).toBeUndefined()
    const change = changeBetween({}, { 'catalog/foo/catalog.yaml': [pkg('foo')] })
    expect(mergeRequestedBy(records, input(said, {}, {}, { change }).check)).toBeUndefined()
  })
})
