// Makes the bugs that other bots had (one edit each, in a copy of the project), runs the tests that must notice, and
// prints what became of them. `node scripts/mutants.ts [--with-simulator [--worlds N]] [NUMBER...]`, or `--table` for the forty-five
// bugs of docs/mutants.md; exit 1 when one survives or an edit does not fit.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { fortyFiveBugs } from './forty-five-bugs.ts'

export interface Edit {
  readonly file: string
  /** Occurs exactly once in the file. */
  readonly search: string
  readonly replace: string
}

export interface Mutant {
  readonly number: number
  readonly bug: string
  /** Absent: the bug has no place in this project; `bug` then says why. */
  readonly edits?: readonly Edit[]
  /** Test file, and the names of the tests that must fail, as jest's -t takes them. */
  readonly test?: readonly [file: string, names: string]
}

const own = 'src/checks/ownership'
const changes = 'test/checks/ownership/threats-changes.test.ts'
const who = 'test/checks/ownership/threats-people.test.ts'
const agreed = 'test/checks/ownership/agreed-changes.test.ts'
const images = 'src/checks/images'
const bundles = 'test/checks/images/opened-bundles.test.ts'
const carried = 'test/checks/commits/what-a-push-carries.test.ts'
const installs = 'test/checks/install/simulate-install.test.ts'
const maySeeTest = 'test/app/pages/may-see.test.ts'
const pagesTest = 'test/app/pages/pages.test.ts'
const installCheck = 'test/checks/install/install-check.test.ts'
const trials = 'src/checks/install/trial'
const workedOut = 'test/examine/release/work-out-release.test.ts'
const releasing = 'test/app/jobs/release/release-bundles.test.ts'
const onCluster = 'test/cluster/run-trial.test.ts'
const trialOrders = 'test/app/trials/do-trial-order.test.ts'

export const mutants: readonly Mutant[] = [
  {
    number: 1,
    bug: 'land without comparing the base',
    edits: [{ file: 'src/git/land.ts', search: '`--force-with-lease=${ref}:${base}`', replace: "'--force'" }],
    test: ['test/git/land.test.ts', ''],
  },
  {
    number: 2,
    bug: 'take the head anew at landing instead of the one that was judged',
    edits: [
      {
        file: 'src/git/land.ts',
        search: 'head !== landing.head || tree !== landing.tree',
        replace: 'false',
      },
    ],
    test: ['test/git/land.test.ts', ''],
  },
  {
    number: 3,
    bug: 'follow renames, so that the old path is not seen',
    edits: [{ file: 'src/git/trees.ts', search: "'--no-renames'", replace: "'--find-renames'" }],
    test: ['test/git/listings.test.ts', 'T01'],
  },
  {
    number: 4,
    bug: 'read one page of reviews',
    edits: [
      {
        file: 'src/github/read-snapshot.ts',
        search: 'if (read > most) done()',
        replace: 'done()',
      },
    ],
    test: ['test/github/forge.test.ts', 'however many pages'],
  },
  {
    number: 5,
    bug: 'believe a list that ends at 3,000 paths',
    edits: [
      {
        file: `${own}/required-approvals.ts`,
        search: 'for (const path of input.change.paths) {',
        replace: 'for (const path of input.change.paths.slice(0, 3000)) {',
      },
    ],
    test: [changes, 'position 3001'],
  },
  {
    number: 6,
    bug: 'owners from the pull request',
    edits: [
      {
        file: `${own}/survey.ts`,
        search: 'text: (path) => input.ownerFiles.base.get(path)',
        replace: 'text: (path) => input.ownerFiles.result.get(path)',
      },
    ],
    test: [who, 'T34'],
  },
  {
    number: 7,
    bug: 'the base as the pull request remembers it',
    edits: [
      {
        file: 'src/github/read-snapshot.ts',
        search: 'base: commitSha(base.data.object.sha)',
        replace: 'base: commitSha(before.base.sha)',
      },
      {
        file: 'src/github/read-at-once.ts',
        search: 'base: commitSha(ref.target.oid)',
        replace: 'base: before.shownBase',
      },
    ],
    test: ['test/github/forge.test.ts', 'also when the branch moved'],
  },
  {
    number: 8,
    bug: 'a login that is part of an owner’s',
    edits: [
      {
        file: `${own}/people.ts`,
        search: 'if (principal.login !== account.login) return no',
        replace: 'if (!principal.login.includes(account.login)) return no',
      },
      {
        file: `${own}/people.ts`,
        search: "answer.kind === 'nobody' || answer.person.id !== account.id",
        replace: "answer.kind === 'nobody'",
      },
    ],
    test: [who, 'T26'],
  },
  {
    number: 9,
    bug: 'logins compared with case in one place',
    edits: [{ file: `${own}/principal.ts`, search: 'login: text.toLowerCase() }', replace: 'login: text }' }],
    test: [who, 'T26'],
  },
  {
    number: 10,
    bug: 'a yes from nobody: `every` of an empty list',
    edits: [
      {
        file: `${own}/consent.ts`,
        search: "return open.length > 0 ? { kind: 'unknown', open } : { kind: 'no' }\n}",
        replace: "return open.length > 0 ? { kind: 'unknown', open } : { kind: 'yes' }\n}",
      },
    ],
    test: [who, 'T61|T19'],
  },
  {
    number: 11,
    bug: 'no required checks count as passed',
    edits: [
      {
        file: 'src/gate/decide.ts',
        search: 'const demanded = demandedChecks(config)',
        replace: 'const demanded: CheckId[] = []',
      },
    ],
    test: ['test/gate/decide.test.ts', ''],
  },
  {
    number: 12,
    bug: 'an approval outlives a push',
    edits: [{ file: `${own}/approvals.ts`, search: 'approval.head === snapshot.head &&', replace: '' }],
    test: [who, 'T19'],
  },
  {
    number: 13,
    bug: 'an approval that is younger than the commit counts',
    edits: [
      {
        file: `${own}/approvals.ts`,
        search: 'approval.head === snapshot.head &&',
        replace:
          "snapshot.reviews.some(({ id, submittedAt }) => id === approval.sourceId && submittedAt > '2001') &&",
      },
    ],
    test: [who, 'T19'],
  },
  {
    number: 14,
    bug: 'a label approves',
    edits: [
      {
        file: `${own}/consent.ts`,
        search: "if (needed === 'alone') return { kind: 'met', by: 'author' }",
        replace:
          "if (needed === 'alone' || this.#input.snapshot.labels.includes('approved')) return { kind: 'met', by: 'author' }",
      },
    ],
    test: [who, 'T32'],
  },
  {
    number: 15,
    bug: 'an edited comment commands',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: 'if (comment.createdAt !== comment.updatedAt) continue',
        replace: '',
      },
    ],
    test: ['test/gate/commands.test.ts', 'T29'],
  },
  {
    number: 16,
    bug: 'who pushed instead of who asks',
    edits: [
      {
        file: `${own}/consent.ts`,
        search: 'const { author } = input.snapshot\n    this.#author =',
        replace: 'const author = input.snapshot.pusher ?? input.snapshot.author\n    this.#author =',
      },
    ],
    test: [who, 'T23'],
  },
  {
    number: 19,
    bug: 'the list of required checks from what came in',
    edits: [
      {
        file: 'src/gate/decide.ts',
        search: 'for (const id of demanded) {',
        replace: 'for (const id of outcomes.map(({ check }) => check)) {',
      },
    ],
    test: ['test/gate/decide.test.ts', ''],
  },
  {
    number: 20,
    bug: 'configuration from the merged tree',
    edits: [
      {
        file: 'src/examine/stand-on-base.ts',
        search: 'await readConfig(repository, baseTree)',
        replace: 'await readConfig(repository, await repository.treeOf(snapshot.head))',
      },
    ],
    test: ['test/checks/ownership/examined-config.test.ts', ''],
  },
  {
    number: 25,
    bug: 'no answer about membership is a yes',
    edits: [
      {
        file: `${own}/people.ts`,
        search: "return answer.kind === 'yes' ? yes : no\n      }",
        replace: 'return yes\n      }',
      },
    ],
    test: [who, 'T27'],
  },
  {
    number: 26,
    bug: 'words of a broken alias file are logins',
    edits: [
      { file: `${own}/authority.ts`, search: "if (aliases?.kind === 'broken') return []", replace: '' },
      {
        file: `${own}/authority.ts`,
        search: 'aliases?.value ?? new Map()',
        replace: "aliases?.kind === 'read' ? aliases.value : new Map()",
      },
    ],
    test: [who, 'T27'],
  },
  {
    number: 29,
    bug: 'a dismissed review brings the one before back',
    edits: [
      {
        file: `${own}/approvals.ts`,
        search: "review.state !== 'commented'",
        replace: "review.state !== 'commented' && review.state !== 'dismissed'",
      },
    ],
    test: [who, 'T28'],
  },
  {
    number: 30,
    bug: 'only the last hundred reviews',
    edits: [
      {
        file: `${own}/approvals.ts`,
        search: 'for (const review of inOrder)',
        replace: 'for (const review of inOrder.slice(-100))',
      },
    ],
    test: [who, 'T28'],
  },
  {
    number: 31,
    bug: 'our marker believed from anybody',
    edits: [
      {
        file: 'src/github/read-comments.ts',
        search: "user?.type === 'Bot' && login !== undefined &&",
        replace: 'true ||',
      },
    ],
    test: ['test/github/forge.test.ts', 'T56'],
  },
  {
    number: 32,
    bug: 'symbolic links accepted',
    edits: [
      {
        file: `${own}/suspicious-paths.ts`,
        search: "else if (after && after.mode !== '100644')",
        replace: "else if (after && after.mode !== '100644' && after.mode !== '120000')",
      },
    ],
    test: [changes, 'T07'],
  },
  {
    number: 33,
    bug: '.gitattributes as a file of the package',
    edits: [
      {
        file: 'src/change/layout/classify-path.ts',
        search: "part.startsWith('.') && !mayBeginWithDot",
        replace: "part.startsWith('.github') && !mayBeginWithDot",
      },
    ],
    test: [changes, 'T09'],
  },
  {
    number: 34,
    bug: 'an approval outlives another base branch',
    edits: [
      { file: `${own}/approvals.ts`, search: 'approval.baseRef === snapshot.baseRef && ', replace: '' },
    ],
    test: [changes, 'T18'],
  },
  {
    number: 39,
    bug: 'a command inside a block of code',
    edits: [{ file: 'src/change/command.ts', search: '/```|~~~|</', replace: '/~~~|</' }],
    test: ['test/change/command.test.ts', 'T30'],
  },
  {
    number: 40,
    bug: 'the title as it is in the merge message',
    edits: [
      {
        file: 'src/messages/merge-message.ts',
        search: 'const words = commitTitle(title)',
        replace: 'const words = title',
      },
    ],
    test: ['test/messages/escape.test.ts', ''],
  },
  {
    number: 41,
    bug: 'package names in content not compared with the place',
    edits: [
      {
        file: `${own}/required-approvals.ts`,
        search: 'if (home !== undefined && !known.holds(directory, name))',
        replace: 'if (false)',
      },
    ],
    test: [changes, 'T11'],
  },
  {
    number: 42,
    bug: 'parts of a read that do not agree',
    edits: [
      {
        file: 'src/github/read-snapshot.ts',
        search: 'if (agrees) return',
        replace: 'if (agrees || attempt >= 0) return',
      },
    ],
    test: ['test/github/read-snapshot.test.ts', 'T45'],
  },
  {
    number: 43,
    bug: 'a bundle that could not be opened counts as opened',
    edits: [
      { file: `${images}/images.ts`, search: 'else closed.push({ reference, ...bundle })', replace: '' },
    ],
    test: [bundles, 'passes only by a definite yes'],
  },
  {
    number: 44,
    bug: 'an image that is missing, or private, is there',
    edits: [
      {
        file: `${images}/images.ts`,
        search: "if (answer.kind === 'missing-or-private')",
        replace: 'if (false)',
      },
    ],
    test: ['test/checks/images/images.test.ts', 'waits, says so and blames nobody'],
  },
  {
    number: 45,
    bug: 'images beyond the budget are there',
    edits: [
      {
        file: 'src/registry/budget.ts',
        search:
          "({ kind: 'unknown', reason: `the change names more than ${what}`, retryAfter: 3600 }) as const",
        replace: "({ kind: 'ok', digest: what, mediaType: '', size: 0 }) as const",
      },
    ],
    test: ['test/registry/cached-answers.test.ts', 'a budget'],
  },
  {
    number: 46,
    bug: 'bundles beyond the budget hold what the catalog says',
    edits: [
      {
        file: 'src/registry/cached-bundles.ts',
        search:
          "return { kind: 'unknown', reason: `${reason}; this one follows in the next run`, retryAfter }",
        replace: "return { kind: 'bundle', digest: reason, findings: [] }",
      },
    ],
    test: ['test/registry/cached-bundles.test.ts', 'what one look may cost'],
  },
  {
    number: 47,
    bug: 'bundles may lie in any registry',
    edits: [
      {
        file: `${images}/written-references.ts`,
        search: 'if (!isAllowedRegistry(parsed.reference, allowed))',
        replace: 'if (!image.isBundle && !isAllowedRegistry(parsed.reference, allowed))',
      },
    ],
    test: [bundles, 'registry that is not allowed'],
  },
  {
    number: 48,
    bug: 'another bundle than the catalog says is worth a warning',
    edits: [
      {
        file: `${images}/rules/bundle-not-its-image.ts`,
        search: "severity: 'error'",
        replace: "severity: 'warning'",
      },
    ],
    test: [bundles, 'passes only by a definite yes'],
  },
  {
    number: 49,
    bug: 'what a private image says is repeated to whoever names it',
    edits: [
      {
        file: 'src/examine/registries.ts',
        search: "if (answer.kind === 'bundle') return { ...answer, isRestricted: true }",
        replace: "if (answer.kind === 'bundle') return answer",
      },
    ],
    test: ['test/examine/bundles-of-a-change.test.ts', 'sees with credentials'],
  },
  {
    number: 50,
    bug: 'waiting for registries without end',
    edits: [
      {
        file: 'src/examine/registries.ts',
        search: 'Promise.race([ask(), clock.sleep(left, answered.signal).then(() => late)])',
        replace: 'ask()',
      },
    ],
    test: ['test/examine/registries.test.ts', 'a look ends in time'],
  },
  {
    number: 51,
    bug: 'a yes for a head, whatever that does by now',
    edits: [
      {
        file: `${own}/approvals.ts`,
        search: 'isAgreedTo(now(), approval.covers)',
        replace: 'now() !== undefined',
      },
    ],
    test: [agreed, 'an approval by review'],
  },
  {
    number: 52,
    bug: 'what files do to owners and packages is no part of a yes',
    edits: [
      {
        file: `${own}/coverage.ts`,
        search: 'for (const line of now) if (!agreed.has(line)) return false',
        replace: 'for (const line of now) if (isFile(line) && !agreed.has(line)) return false',
      },
    ],
    test: [agreed, ''],
  },
  {
    number: 53,
    bug: 'a review that is seen late is for what there is by then',
    edits: [
      {
        file: 'src/examine/agreed-changes.ts',
        search: 'before.length !== 1 || before[0] !== met',
        replace: 'before.length > 1',
      },
    ],
    test: [agreed, 'however it was merged'],
  },
  {
    number: 54,
    bug: 'what a merge brought in may have been what reviewers saw',
    edits: [
      {
        file: 'src/examine/agreed-changes.ts',
        search: ' || !(await repository.wasTip(base, met))',
        replace: '',
      },
    ],
    test: [agreed, 'however it was merged'],
  },
  {
    number: 55,
    bug: 'lifting a hold lifts it for everything to come',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: 'check === undefined || isYesTo(record, check)',
        replace: 'check === undefined || record.head !== undefined',
      },
    ],
    test: [agreed, 'that lifts a hold'],
  },
  {
    number: 56,
    bug: 'a command is for what there is when it is read',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: 'if (last.change !== change)',
        replace: 'if (change === undefined)',
      },
    ],
    test: [agreed, 'is stale when that changed'],
  },
  {
    number: 57,
    bug: 'a push whose delivery was lost is the author’s',
    edits: [
      {
        file: 'src/examine/stand-on-base.ts',
        search: ' || (await memory.hasSeenPushes?.(repository, pull))',
        replace: '',
      },
    ],
    test: ['test/checks/ownership/pushers.test.ts', 'whose own delivery was lost'],
  },
  {
    number: 58,
    bug: 'a comment that somebody edited commands',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: "if (edits.kind === 'edited') continue",
        replace: '',
      },
    ],
    test: ['test/gate/commands.test.ts', 'T29'],
  },
  {
    number: 59,
    bug: 'every comment is as its author wrote it',
    edits: [
      {
        file: 'src/github/answer.ts',
        search: 'lastEditedAt === null && !includesCreatedEdit && editor === null',
        replace: 'lastEditedAt !== undefined',
      },
    ],
    test: ['test/github/forge.test.ts', 'T29'],
  },
  {
    number: 60,
    bug: 'odd white space is a part of names',
    edits: [
      {
        file: `${own}/sources/codeowners.ts`,
        search: 'words.map(findUnseen).find((name) => name !== undefined)',
        replace: 'words.map(() => undefined).find((name) => name !== undefined)',
      },
    ],
    test: ['test/checks/ownership/sources/codeowners.test.ts', 'do not agree'],
  },
  {
    number: 61,
    bug: 'a comment ends where our reader ends it',
    edits: [
      {
        file: `${own}/sources/owner-source.ts`,
        search: 'const divided = findDividing(text)',
        replace: 'const divided = findDividing(text.slice(0, 0))',
      },
    ],
    test: ['test/checks/ownership/ambiguous-lists.test.ts', 'wherever it stands'],
  },
  {
    number: 62,
    bug: 'a name that is no text to other readers is a login',
    edits: [
      {
        file: `${own}/sources/owner-source.ts`,
        search: "item.type === 'PLAIN' && notAlwaysText.test(item.value)",
        replace: "item.type === 'PLAIN' && item.value === ''",
      },
    ],
    test: ['test/checks/ownership/ambiguous-lists.test.ts', 'some readers alone'],
  },
  {
    number: 70,
    bug: 'close the pull request of somebody else without its content',
    edits: [
      {
        file: 'src/examine/closed-pulls.ts',
        search: 'if (entry?.oid !== after?.oid || entry?.mode !== after?.mode) return false',
        replace: '',
      },
    ],
    test: [carried, 'drops its content'],
  },
  {
    number: 71,
    bug: 'land a pull request that is held back inside another one',
    edits: [
      {
        file: 'src/checks/commits/carried.ts',
        search: 'isOwn || (isKept && heldBack === undefined)',
        replace: 'isOwn || isKept',
      },
    ],
    test: [carried, 'hold it back'],
  },
  {
    number: 72,
    bug: 'let a merge take workflow files from any of its parents',
    edits: [
      {
        file: 'src/git/carried-commits.ts',
        search: 'before.size === 1 ? before : await workflowsOfBase(git, base, id)',
        replace: 'before',
      },
    ],
    test: [carried, 'older state'],
  },
  {
    number: 73,
    bug: 'judge the tree alone, not the commits',
    edits: [
      {
        file: 'src/checks/ownership/ownership.ts',
        search: '  findings.take(judgeCarried(input))\n',
        replace: '',
      },
    ],
    test: [carried, 'taken back'],
  },
  {
    number: 74,
    bug: 'take the title of a pull request as it is written, whatever it normalises to',
    edits: [{ file: 'src/messages/escape.ts', search: "title.normalize('NFKC')", replace: 'title' }],
    test: ['test/messages/escape.test.ts', 'merge commit'],
  },
  {
    number: 75,
    bug: 'take the magic words out of a title once',
    edits: [
      { file: 'src/messages/escape.ts', search: 'if (tamed === text) return text', replace: 'return tamed' },
    ],
    test: ['test/messages/escape.test.ts', 'merge commit'],
  },
  {
    number: 76,
    bug: 'judge no catalog whose links lead to what changes',
    edits: [
      {
        file: 'src/examine/compare-trees.ts',
        search: '...links.filter(({ path }) => isReadAsCatalog(path, layout))',
        replace: '',
      },
    ],
    test: ['test/examine/changed-links.test.ts', 'breaks the catalog'],
  },
  {
    number: 120,
    bug: `go on behind the size of an entry that has no content`,
    edits: [
      { file: 'src/registry/unpack/tar-reader.ts', search: `if (size !== 0)`, replace: `if (size < 0)` },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', `with a size`],
  },
  {
    number: 121,
    bug: `read on after an empty block`,
    edits: [
      {
        file: 'src/registry/unpack/tar-reader.ts',
        search: `if (sawZeroBlock) throw refused('it goes on after an empty block')`,
        replace: `sawZeroBlock = false`,
      },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', `empty block between`],
  },
  {
    number: 122,
    bug: `believe a global header`,
    edits: [
      {
        file: 'src/registry/unpack/pax-records.ts',
        search: `if (key !== 'comment')`,
        replace: `if (key === '')`,
      },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', `a global`],
  },
  {
    number: 123,
    bug: `write through a linked directory`,
    edits: [
      {
        file: 'src/registry/unpack/layered-files.ts',
        search: `if (child.kind === 'symlink') throw refused(\`something is written through the link \${place()}\`)`,
        replace: `if (child.kind === 'symlink') directory.children.set(part, (child = { kind: 'directory', children: new Map(), layer }))`,
      },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', `through a link`],
  },
  {
    number: 124,
    bug: `names that are no UTF-8 as replacement characters`,
    edits: [
      {
        file: 'src/registry/unpack/tar-header.ts',
        search: `new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })`,
        replace: `new TextDecoder('utf-8', { ignoreBOM: true })`,
      },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', `not UTF-8`],
  },
  {
    number: 125,
    bug: `unpack what is an archive without unpacking, too`,
    edits: [
      {
        file: 'src/registry/unpack/unpack-layers.ts',
        search: `found !== 'none' && isTarHeader`,
        replace: `found === 'none' && isTarHeader`,
      },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', `gzip stream that is a tar archive`],
  },
  {
    number: 126,
    bug: `compare keys of documents with their case`,
    edits: [
      { file: 'src/registry/strict-json.ts', search: `known.name !== key`, replace: `known.name === ''` },
    ],
    test: ['test/registry/misbehaving-registries.test.ts', `in another case|long s`],
  },
  {
    number: 127,
    bug: `of a key that is there twice the last counts`,
    edits: [
      { file: 'src/registry/strict-json.ts', search: `if (keys.has(key))`, replace: `if (key === '')` },
    ],
    test: ['test/registry/misbehaving-registries.test.ts', `a key twice`],
  },
  {
    number: 128,
    bug: `any digest in a descriptor`,
    edits: [
      {
        file: 'src/registry/manifest.ts',
        search: `if (!isStrongDigest(digest))`,
        replace: `if (digest === '')`,
      },
    ],
    test: ['test/registry/misbehaving-registries.test.ts', `md5|nobody knows|capital letters`],
  },
  {
    number: 129,
    bug: `a manifest exists when a HEAD says so`,
    edits: [
      {
        file: 'src/registry/open-registry.ts',
        search: `if (meteredHosts.has(reference.host))`,
        replace: `if (reference.host !== '')`,
      },
    ],
    test: ['test/registry/misbehaving-registries.test.ts', `does not exist as an image`],
  },
  {
    number: 81,
    bug: 'label measurements by what an unsigned header says',
    edits: [
      {
        file: 'src/app/edge/deliveries.ts',
        search: "let label = 'unverified'",
        replace: "let label = event ?? 'none'",
      },
    ],
    test: ['test/app/edge/deliveries.test.ts', 'counts nothing'],
  },
  {
    number: 82,
    bug: 'believe remembered comments without counting them',
    edits: [
      { file: 'src/github/read-comments.ts', search: 'now.comments.size === count', replace: 'count >= 0' },
    ],
    test: ['test/github/read-comments.test.ts', 'deleted'],
  },
  {
    number: 83,
    bug: 'let a landing rest on remembered comments',
    edits: [{ file: 'src/github/read-comments.ts', search: 'anew ? undefined : ', replace: '' }],
    test: ['test/github/read-comments.test.ts', 'for a landing'],
  },
  {
    number: 84,
    bug: 'ask GitHub about as many people as a file names',
    edits: [
      {
        file: 'src/examine/ask-checks.ts',
        search: 'asked.people.size > budget.people',
        replace: 'asked.people.size < 0',
      },
    ],
    test: ['test/examine/looks/look-pool.test.ts', 'names more people'],
  },
  {
    number: 85,
    bug: 'wait for all that git lists',
    edits: [{ file: 'src/git/run-process.ts', search: 'outRecords > records', replace: 'outRecords < 0' }],
    test: ['test/git/launcher.test.ts', 'is stopped where it says too much'],
  },
  {
    number: 86,
    bug: 'show what could not be checked as neutral, which GitHub takes for a yes',
    edits: [
      {
        file: 'src/messages/check-runs.ts',
        search: "isTooLarge || isMalformed ? 'failure' : 'neutral'",
        replace: "isTooLarge || isMalformed ? 'neutral' : 'neutral'",
      },
    ],
    test: ['test/messages/unjudged.test.ts', ''],
  },
  {
    number: 187,
    bug: 'push what would close another pull request than those that were judged',
    edits: [
      {
        file: 'src/landing/fresh-look.ts',
        search: 'return facts(now) === facts(carried.met)',
        replace: 'return facts(now) !== undefined',
      },
    ],
    test: ['test/landing/land-pull.test.ts', ''],
  },
  {
    number: 188,
    bug: 'hold as many ignore patterns against as many paths as a stranger writes',
    edits: [
      {
        file: 'src/examine/catalogs/catalog-loader.ts',
        search: 'patterns * paths > mostComparisons ||',
        replace: '',
      },
    ],
    test: ['test/examine/catalogs/catalog-loader.test.ts', 'cannot be read'],
  },
  {
    number: 189,
    bug: 'hold all changed files in memory at once, however large',
    edits: [
      {
        file: 'src/examine/compare-trees.ts',
        search: 'size += bytes.length',
        replace: 'size += 0',
      },
    ],
    test: ['test/examine/looks/look-pool.test.ts', 'held in memory'],
  },
  {
    number: 190,
    bug: 'look again and again at what is too large',
    edits: [
      {
        file: 'src/app/jobs/look-at-pull.ts',
        search: 'if (before?.state === state)',
        replace: 'if (before?.state === undefined && state === undefined)',
      },
    ],
    test: ['test/app/jobs/look-at-pull.test.ts', 'looked at once'],
  },
  {
    number: 191,
    bug: 'keep a verdict that something is too large for another head',
    edits: [
      {
        file: 'src/app/jobs/look-at-pull.ts',
        search: 'const parts = [head, baseRef,',
        replace: 'const parts = [baseRef,',
      },
    ],
    test: ['test/app/jobs/look-at-pull.test.ts', 'its head'],
  },
  {
    number: 192,
    bug: 'let every fetch wait for the longest one',
    edits: [
      {
        file: 'src/git/fetch-lanes.ts',
        search: 'filter(({ since }) => since > soon).length',
        replace: 'filter(({ since }) => since !== soon).length',
      },
    ],
    test: ['test/git/fetch-lanes.test.ts', 'leave their places'],
  },
  {
    number: 193,
    bug: 'let a small pull request wait behind large ones',
    edits: [
      {
        file: 'src/examine/looks/look-pool.ts',
        search: "? 'small' : 'large'",
        replace: "? 'large' : 'large'",
      },
    ],
    test: ['test/examine/looks/look-pool.test.ts', 'GitHub says that it is small'],
  },
  {
    number: 194,
    bug: 'let a process go on that has looked at something too large',
    edits: [
      {
        file: 'src/examine/looks/look-pool.ts',
        search: "kind === 'seen' && milliseconds",
        replace: 'kind.length > 0 && milliseconds',
      },
    ],
    test: ['test/examine/looks/look-pool.test.ts', 'found something too large'],
  },
  {
    number: 195,
    bug: "let a process that looked at one repository look at another's",
    edits: [
      {
        file: 'src/workers/worker-pool.ts',
        search: "const whose = isForOneKey ? key : ''",
        replace: "const whose = ''",
      },
    ],
    test: ['test/workers/worker-pool.test.ts', 'kept apart'],
  },
  {
    number: 196,
    bug: 'take the first of several images for the same platform, where others take the last',
    edits: [
      {
        file: 'src/registry/pull-bundle.ts',
        search: 'matching.map(({ digest }) => digest)).size > 1',
        replace: 'matching.map(({ digest }) => digest)).size < 0',
      },
    ],
    test: ['test/registry/pull-bundle.test.ts', 'several|for two images'],
  },
  {
    number: 301,
    bug: 'take a directory in place of the configuration for none',
    edits: [
      {
        file: 'src/examine/read-config.ts',
        search: "length > 0 ? 'directory' : undefined",
        replace: 'length > 0 ? undefined : undefined',
      },
    ],
    test: ['test/examine/read-config.test.ts', 'a directory says so'],
  },
  {
    number: 302,
    bug: 'forget who was asked for a review when the cache is emptied',
    edits: [
      {
        file: 'src/app/jobs/request-reviews.ts',
        search: 'new Set(await app.store.readState(requestedReviews, forge.repository, key))',
        replace: 'new Set(await Promise.resolve(key && []))',
      },
    ],
    test: ['test/stories/empty-cache.test.ts', 'asked for a review once'],
  },
  {
    number: 303,
    bug: 'go on as if there were no state where it cannot be read',
    edits: [
      {
        file: 'src/store/state.ts',
        search: 'if (value === undefined)',
        replace: 'if (value === false as never)',
      },
    ],
    test: ['test/store/server.test.ts', 'of an earlier version is read as such'],
  },
  {
    number: 197,
    bug: 'parse a configuration of any size in the process that answers deliveries',
    edits: [
      {
        file: 'src/config/config-file.ts',
        search: 'mostConfigBytes = 128 * 1024',
        replace: 'mostConfigBytes = 1024 * 1024',
      },
    ],
    test: ['test/examine/read-config.test.ts', ''],
  },
  {
    number: 201,
    bug: 'take words of GitHub that nobody knows for a race, and push again and again',
    edits: [
      {
        file: 'src/landing/classify-refusal.ts',
        search: "return isKnown && !known.includes('pull') ? 'race' : 'pull'",
        replace: "return known.includes('pull') ? 'pull' : 'race'",
      },
    ],
    test: ['test/landing/classify-refusal.test.ts', 'nobody sorted'],
  },
  {
    number: 202,
    bug: 'let the name of a file choose what a refusal is about',
    edits: [
      {
        file: 'src/landing/classify-refusal.ts',
        search: "const files: Meaning = { scope: 'pull', whole: true }",
        replace: "const files: Meaning = { scope: 'pull' }",
      },
    ],
    test: ['test/landing/classify-refusal.test.ts', 'anybody'],
  },
  {
    number: 203,
    bug: 'a stop of one branch stops every one',
    edits: [
      {
        file: 'src/gate/landing-stop.ts',
        search: '(stop.branch === undefined || stop.branch === branch) &&',
        replace: '',
      },
    ],
    test: ['test/gate/landing-stop.test.ts', 'for its branch'],
  },
  {
    number: 204,
    bug: 'a stop that the audit ordered ends by itself',
    edits: [
      {
        file: 'src/gate/landing-stop.ts',
        search: "stop.kind === 'refused' && stop.tryAgainAt !== undefined",
        replace: 'stop.tryAgainAt !== undefined',
      },
    ],
    test: ['test/gate/landing-stop.test.ts', 'ends by itself'],
  },
  {
    number: 205,
    bug: 'whoever has a say in one pull request freezes the branch for all',
    edits: [{ file: 'src/gate/commands.ts', search: "freeze: 'maintainers'", replace: "freeze: 'say'" }],
    test: ['test/gate/commands.test.ts', '/freeze'],
  },
  {
    number: 206,
    bug: 'a thaw that names no audit ends what the audit stopped',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: "reason: '', kinds: ['frozen', 'refused'] } }",
        replace: "reason: '', kinds: ['frozen', 'refused', 'audit'] } }",
      },
    ],
    test: ['test/gate/commands.test.ts', '/thaw'],
  },
  {
    number: 207,
    bug: 'a misspelt branch opens the one that the pull request is for',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: "rest === 'audit' ?",
        replace: "rest.endsWith('audit') ?",
      },
    ],
    test: ['test/gate/commands.test.ts', 'opens nothing'],
  },
  {
    number: 208,
    bug: 'merge what GitHub refused, again and again',
    edits: [{ file: 'src/gate/decide.ts', search: 'if (refused !== undefined)', replace: 'if (false)' }],
    test: ['test/gate/decide.test.ts', 'GitHub refused'],
  },
  {
    number: 221,
    bug: 'ask GitHub to merge whatever the head is by then',
    edits: [{ file: 'src/github/merge-calls.ts', search: '          sha: head,\n', replace: '' }],
    test: ['test/landing/github-merge.test.ts', 'of a head that moved'],
  },
  {
    number: 222,
    bug: 'believe a refusal without reading the branch',
    edits: [
      {
        file: 'src/landing/settle-landings.ts',
        search: 'const landed = how.isFetched',
        replace: "if (heard === 'refused') return abandon(intent, options)\n  const landed = how.isFetched",
      },
    ],
    test: ['test/landing/github-merge.test.ts', 'reports as failed though it was done'],
  },
  {
    number: 223,
    bug: 'take whatever tree GitHub made for the validated one',
    edits: [
      {
        file: 'src/landing/read-landed.ts',
        search: 'if (tree !== intent.tree) return',
        replace: 'if (!tree) return',
      },
    ],
    test: ['test/landing/github-merge.test.ts', 'notices another tree'],
  },
  {
    number: 224,
    bug: 'take whatever base GitHub merged into for the validated one',
    edits: [
      {
        file: 'src/landing/read-landed.ts',
        search: 'return isExpected ?',
        replace: 'return isExpected || true ?',
      },
    ],
    test: ['test/landing/github-merge.test.ts', 'wrong base'],
  },
  {
    number: 225,
    bug: 'put the checks on the head, where they are, and not on the merge',
    edits: [
      {
        file: 'src/landing/push-merge.ts',
        search: 'await putChecks(forge, commit, passed)',
        replace: 'await putChecks(forge, (await options.repository.parentsOf(commit))[1]!, checks)',
      },
    ],
    test: ['test/landing/push-merge.test.ts', 'puts our checks on the merge itself'],
  },
  {
    number: 226,
    bug: 'write the intent after the act',
    edits: [
      {
        file: 'src/landing/land-pull.ts',
        search: 'const intent = await store.beginLanding(lease, begun)',
        replace: 'await act()\n  const intent = await store.beginLanding(lease, begun)',
      },
    ],
    test: ['test/landing/push-merge.test.ts', 'intent names it before the push'],
  },
  {
    number: 227,
    bug: 'leave the temporary branch where it is',
    edits: [
      {
        file: 'src/landing/push-merge.ts',
        search:
          'await removeOwnStaged(permit.landing, temporaryBranch(permit.landing), options).catch(() => undefined)',
        replace: '',
      },
    ],
    test: ['test/landing/push-merge.test.ts', 'leaves no branch behind'],
  },
  {
    number: 228,
    bug: 'leave the temporary branch of an ended process where it is',
    edits: [
      {
        file: 'src/landing/remove-staged.ts',
        search: 'await removeOwnStaged({ repository: name, baseRef }, branch, places)',
        replace: '',
      },
    ],
    test: ['test/landing/power-cuts.test.ts', 'push true true'],
  },
  {
    number: 229,
    bug: 'merge by GitHub again as soon as its answer was lost',
    edits: [
      {
        file: 'src/landing/settle-landings.ts',
        search: 'if (heard === undefined && landed.isOpen && isFresh)',
        replace: 'if (heard === undefined && landed.isOpen && !isFresh && false)',
      },
    ],
    test: ['test/landing/github-merge.test.ts', 'an answer that never came'],
  },
  {
    number: 230,
    bug: 'push a commit that GitHub made without looking at it',
    edits: [
      {
        file: 'src/git/land.ts',
        search: 'await checkCommit(options, landing, commit)\n  const output',
        replace: 'const output',
      },
    ],
    test: ['test/landing/push-merge.test.ts', 'of another tree or other parents'],
  },
  {
    number: 231,
    bug: 'take a group of the merge queue for what its pull requests make',
    edits: [
      {
        file: 'src/app/jobs/judge-groups.ts',
        search: 'if ((await repository.treeOf(merged)) !== (await repository.treeOf(group.head)))',
        replace: 'if (merged === group.branch)',
      },
    ],
    test: ['test/landing/merge-queue.test.ts', 'with other files than'],
  },
  {
    number: 232,
    bug: 'judge the pull requests of a group one by one, and never together',
    edits: [
      {
        file: 'src/app/jobs/judge-groups.ts',
        search: 'group.entries.length < 2',
        replace: 'group.entries.length > 0',
      },
    ],
    test: ['test/landing/merge-queue.test.ts', 'break something together'],
  },
  {
    number: 233,
    bug: 'take what the merge queue merged without its group having been judged',
    edits: [
      {
        file: 'src/landing/read-landed.ts',
        search: 'return group === undefined ?',
        replace: 'return group === null ?',
      },
    ],
    test: ['test/landing/merge-queue.test.ts', 'that nobody judged'],
  },
  {
    number: 234,
    bug: 'push a merge that GitHub would have made with another tree, where it compares them',
    edits: [
      {
        file: 'src/landing/push-merge.ts',
        search: 'if (other !== undefined) return other',
        replace: '',
      },
    ],
    test: ['test/landing/push-merge.test.ts', 'is refused before it is tried'],
  },
  {
    number: 131,
    bug: 'take a check of another App that is not there for one that passed',
    edits: [{ file: 'src/gate/required-checks.ts', search: "      case 'missing':\n", replace: '' }],
    test: ['test/gate/decide.test.ts', 'while it is not there'],
  },
  {
    number: 132,
    bug: 'take a required check by its name alone, whichever App reports it',
    edits: [
      {
        file: 'src/github/answer.ts',
        search: 'run.app?.id === app && run.name === name',
        replace: 'run.name === name',
      },
      { file: 'src/github/answer.ts', search: '    app_id: app,\n', replace: '' },
    ],
    test: ['test/github/forge.test.ts', 'from that App alone'],
  },
  {
    number: 133,
    bug: 'take required checks that nobody asked for as passed',
    edits: [
      {
        file: 'src/gate/required-checks.ts',
        search:
          "        yield { kind: 'unknown', code: 'unanswered', text: `${which}: nobody has asked for it yet` }\n",
        replace: '',
      },
    ],
    test: ['test/gate/decide.test.ts', 'no silence'],
  },
  {
    number: 134,
    bug: 'trust checks on the head of a pull request that is behind its base',
    edits: [{ file: 'src/gate/landing-demands.ts', search: 'pull?.containsBase !== true', replace: 'false' }],
    test: ['test/gate/choose-landing-method.test.ts', 'our checks, head behind'],
  },
  {
    number: 135,
    bug: 'believe to bypass a rule for pushes that is bypassed for pull requests only',
    edits: [
      {
        file: 'src/github/rule-parts.ts',
        search: "...(bypass === 'pull_requests_only' && { closedToPushes: true })",
        replace: '',
      },
    ],
    test: ['test/github/read-branch-rules.test.ts', 'bypasses pull_request bind'],
  },
  {
    number: 136,
    bug: 'leave out a rule of a branch that nobody knows',
    edits: [
      {
        file: 'src/github/rule-parts.ts',
        search: 'return harmless.has(type) ? undefined : { others: [type] }',
        replace: 'return undefined',
      },
    ],
    test: ['test/github/edge.test.ts', 'not left out'],
  },
  {
    number: 304,
    bug: 'queue what GitHub merges without waiting for our checks',
    edits: [
      {
        file: 'src/gate/choose-landing-method.ts',
        search: 'if (own.length === 0)',
        replace: 'if (own.length > 100)',
      },
    ],
    test: ['test/gate/choose-landing-method.test.ts', 'waits for nothing of ours'],
  },
  {
    number: 305,
    bug: 'park a pull request by rules that were read an hour ago',
    edits: [
      {
        file: 'src/app/jobs/refused-pull.ts',
        search: 'const now = await nameOfRules(branch, place, { fresh: true })\n  return',
        replace: 'const now = await nameOfRules(branch, place)\n  return',
      },
    ],
    test: ['test/stories/second-github.test.ts', 'takes no push without them'],
  },
  {
    number: 306,
    bug: 'let large pull requests go on beside small ones',
    edits: [
      {
        file: 'src/app/jobs/turns.ts',
        search: '(light.size === 0 || !isPatient) && (heavy.isIn || hasRoom)',
        replace: 'heavy.isIn || hasRoom',
      },
    ],
    test: ['test/app/jobs/turns.test.ts', 'a heavy one waits'],
  },
  {
    number: 307,
    bug: 'let one account have as many small pull requests looked at at once as it opens',
    edits: [
      {
        file: 'src/app/jobs/turns.ts',
        search: "weight === 'light' && others < lightOfOne",
        replace: "weight === 'light'",
      },
    ],
    test: ['test/app/jobs/turns.test.ts', 'the third light one'],
  },
  {
    number: 308,
    bug: 'let large pull requests wait for small ones without end',
    edits: [
      {
        file: 'src/app/jobs/turns.ts',
        search: '      waiting.isPatient = false\n',
        replace: '',
      },
    ],
    test: ['test/app/jobs/turns.test.ts', 'delay a heavy one by so much'],
  },
  {
    number: 309,
    bug: 'pass over what lies between the frames of a layer in zstd',
    edits: [
      {
        file: 'src/registry/unpack/zstd-frames.ts',
        search: "    } else throw damaged('it goes on after its end')",
        replace: '    } else break',
      },
    ],
    test: ['test/registry/hidden-in-archives.test.ts', 'a frame of zstd behind bytes'],
  },
  {
    number: 310,
    bug: 'take what others do to our comment for our own',
    edits: [
      {
        file: 'src/app/edge/jobs-of-delivery.ts',
        search: '    sender.id === comment.user?.id\n',
        replace: '    true\n',
      },
    ],
    test: ['test/app/edge/deliveries.test.ts', 'our own comment'],
  },
  {
    number: 311,
    bug: 'let long bodies of strangers take the room of deliveries',
    edits: [
      {
        file: 'src/app/edge/deliveries.ts',
        search: "room === 'usual' && length > usualBody",
        replace: 'length < 0',
      },
    ],
    test: ['test/app/edge/deliveries.test.ts', 'fill the room'],
  },
  {
    number: 312,
    bug: 'let a repository with many pull requests keep all others waiting',
    edits: [
      { file: 'src/store/fair-priority.ts', search: 'Math.min(head, row.own - 1)', replace: 'head' },
      {
        file: 'src/store/fair-priority.ts',
        search: 'isKnown ? known.priority - 1',
        replace: 'isKnown ? known.priority',
      },
    ],
    test: ['test/store/embedded.test.ts', 'take turns'],
  },
  {
    number: 380,
    bug: 'say that a package installs though its bundle could not be read',
    edits: [
      {
        file: 'src/checks/install/simulate-install.ts',
        search: "...because('unknown'),",
        replace: '',
      },
    ],
    test: [installs, 'never says yes'],
  },
  {
    number: 381,
    bug: 'pass over that OLM takes an older version than the head',
    edits: [
      {
        file: 'src/checks/install/steps/resolution-steps.ts',
        search: 'fresh.root.name === head',
        replace: "fresh.root.name !== ''",
      },
    ],
    test: [installs, 'older version without a word'],
  },
  {
    number: 382,
    bug: 'install what a channel skips',
    edits: [
      {
        file: 'src/checks/install/resolve/channel-order.ts',
        search: 'if (!skipped.has(entry.name)) chain',
        replace: 'chain',
      },
    ],
    test: ['test/checks/install/resolve.test.ts', 'replaced and skipped'],
  },
  {
    number: 383,
    bug: 'install two Operators that provide the same API',
    edits: [
      {
        file: 'src/checks/install/resolve/resolve.ts',
        search: '!keys.some((key) => taken.has(key))',
        replace: 'true',
      },
    ],
    test: ['test/checks/install/resolve.test.ts', 'the same API are not installed together'],
  },
  {
    number: 384,
    bug: 'take another bundle than the catalog names for the right one',
    edits: [
      {
        file: 'src/checks/install/steps/content-steps.ts',
        search: "isIdentity ? 'refused' : 'warning'",
        replace: "'warning'",
      },
    ],
    test: [installs, 'another one than the catalog says'],
  },
  {
    number: 340,
    bug: 'take a signature of another digest for one of this image',
    edits: [
      {
        file: 'src/image/provenance/simple-signing.ts',
        search: 'digest !== image.digest',
        replace: 'digest === ""',
      },
    ],
    test: ['test/image/provenance/verify-image.test.ts', 'of another digest|below an index'],
  },
  {
    number: 341,
    bug: 'take a signature for another repository for one of this',
    edits: [
      {
        file: 'src/image/provenance/simple-signing.ts',
        search: 'repositoryOf(name) !== repositoryOf(image.repository)',
        replace: 'repositoryOf(image.repository) === undefined',
      },
    ],
    test: ['test/image/provenance/verify-image.test.ts', 'of another repository'],
  },
  {
    number: 342,
    bug: 'count a signature without asking the key',
    edits: [
      {
        file: 'src/image/provenance/verify-image.ts',
        search: '!key.verifies(payload, signature)',
        replace: 'signature.length > 1000',
      },
    ],
    test: ['test/image/provenance/verify-image.test.ts', 'by another key'],
  },
  {
    number: 343,
    bug: 'believe an attestation that the key did not sign',
    edits: [
      {
        file: 'src/image/provenance/envelope.ts',
        search: "typeof signature !== 'number' && key.verifies(signed, signature)",
        replace: "typeof signature !== 'number'",
      },
    ],
    test: ['test/image/provenance/verify-image.test.ts', 'by another key, of another kind'],
  },
  {
    number: 344,
    bug: 'believe an attestation about another image',
    edits: [
      {
        file: 'src/image/provenance/statement.ts',
        search: 'sha256 === undefined || !isAbout',
        replace: 'sha256 === undefined',
      },
    ],
    test: ['test/image/provenance/verify-image.test.ts', 'by another key, of another kind'],
  },
  {
    number: 345,
    bug: 'verify with the public part of whatever key is in the file',
    edits: [
      {
        file: 'src/image/provenance/signing-key.ts',
        search: "if (label !== 'PUBLIC KEY')",
        replace: "if (label === '')",
      },
    ],
    test: ['test/image/provenance/signing-key.test.ts', 'verifies nothing'],
  },
  {
    number: 346,
    bug: 'take a signature with a certificate, which cosign would judge by other rules',
    edits: [
      {
        file: 'src/image/provenance/verify-image.ts',
        search: "(layer.annotations?.[name] ?? '') !== ''",
        replace: "name === ''",
      },
    ],
    test: ['test/image/provenance/verify-image.test.ts', 'with a certificate'],
  },
  {
    number: 347,
    bug: 'set a tag that somebody else moved while the layers were on their way',
    edits: [
      {
        file: 'src/image/open-catalog-publisher.ts',
        search: 'if (found !== now?.digest) throw',
        replace: 'if (found === undefined) throw',
      },
    ],
    test: ['test/image/publish-catalog.test.ts', 'somebody else moved'],
  },
  {
    number: 348,
    bug: 'print the digest of the cache as a number, without its leading zeros',
    edits: [{ file: 'src/go/fnv.ts', search: ".padStart(16, '0')", replace: '' }],
    test: ['test/catalog/api/write-cache.test.ts', 'digest'],
  },
  {
    number: 349,
    bug: 'build on a base that holds a catalog, which shows through',
    edits: [
      {
        file: 'src/image/open-catalog-publisher.ts',
        search: '    refuseCatalogs(base)\n',
        replace: '',
      },
      { file: 'src/image/open-catalog-publisher.ts', search: 'refuseCatalogs, ', replace: '' },
    ],
    test: ['test/image/publish-catalog.test.ts', 'new base'],
  },
  {
    number: 350,
    bug: 'take an image for the catalog that it should be without comparing the files',
    edits: [
      {
        file: 'src/image/read-catalog-image.ts',
        search: 'Buffer.compare(is, should) === 0',
        replace: 'is.length > 0',
      },
    ],
    test: ['test/image/publish-catalog.test.ts', 'all platforms of its base'],
  },
  {
    number: 351,
    bug: 'call an image unchanged for what was remembered, whatever the tag holds',
    edits: [
      {
        file: 'src/image/open-catalog-publisher.ts',
        search: '(await memory?.get(key)) === contentOf(published)',
        replace: '(await memory?.get(key)) !== undefined',
      },
    ],
    test: ['test/image/publish-catalog.test.ts', 'earlier build'],
  },
  {
    number: 352,
    bug: 'let a repository with many pull requests keep all others waiting',
    edits: [
      { file: 'src/store/fair-priority.ts', search: 'Math.min(head, row.own - 1)', replace: 'head' },
      {
        file: 'src/store/fair-priority.ts',
        search: 'isKnown ? known.priority - 1',
        replace: 'isKnown ? known.priority',
      },
    ],
    test: ['test/store/embedded.test.ts', 'take turns'],
  },
  {
    number: 320,
    bug: "push wherever some entry of the operator's list allows it, whoever asks",
    edits: [
      {
        file: 'src/app/publishing/push-targets.ts',
        search: 'const found = own.find(isCovered)',
        replace: 'const found = targets.find(isCovered)',
      },
    ],
    test: ['test/app/publishing/push-targets.test.ts', 'refuses another GitHub repository'],
  },
  {
    number: 321,
    bug: 'compare image repositories by how their names begin',
    edits: [
      {
        file: 'src/app/publishing/push-targets.ts',
        search: 'given.startsWith(`${wanted.name}/`) : given === wanted.name',
        replace: 'given.startsWith(`${wanted.name}/`) : given.startsWith(wanted.name)',
      },
    ],
    test: ['test/app/publishing/push-targets.test.ts', 'only begins like'],
  },
  {
    number: 322,
    bug: 'let a preview set the tags that users follow',
    edits: [
      {
        file: 'src/app/publishing/do-publish-order.ts',
        search: '/^pr-\\d/.test(tag) !== wantsPreview',
        replace: '/^pr-\\d/.test(tag) && !wantsPreview',
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'never move the tag'],
  },
  {
    number: 323,
    bug: 'delete an image that an index behind a kept tag holds',
    edits: [
      {
        file: 'src/app/publishing/remove-images.ts',
        search: "if (manifest.kind !== 'index') return []",
        replace: "if (manifest.kind === 'index') return []",
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'a kept index holds'],
  },
  {
    number: 324,
    bug: 'publish from whatever branch the configuration names',
    edits: [
      {
        file: 'src/app/jobs/publish/read-ground.ts',
        search: 'config.branches.some((glob) => minimatch(branch, glob))',
        replace: 'config.branches.every((glob) => minimatch(branch, glob))',
      },
    ],
    test: ['test/app/jobs/publish/publish-catalogs.test.ts', 'nobody serves'],
  },
  {
    number: 325,
    bug: 'make a preview of what did not pass validation',
    edits: [
      {
        file: 'src/app/jobs/publish/wish-preview.ts',
        search: 'outcome.check === id && passed(outcome)),\n  )\n  if (!isSound)',
        replace: 'outcome.check === id),\n  )\n  if (!isSound)',
      },
    ],
    test: ['test/app/jobs/publish/publish-preview.test.ts', 'validation failed'],
  },
  {
    number: 371,
    bug: 'lift permissions to all namespaces without the right to list them',
    edits: [
      {
        file: 'src/bundle/plain/accounts-and-roles.ts',
        search: 'csv.permissions.map(withNamespaces)',
        replace: 'csv.permissions',
      },
    ],
    test: ['test/bundle/plain/render-plain.test.ts', ''],
  },
  {
    number: 372,
    bug: 'let an upgrade drop the version that objects are stored in',
    edits: [
      {
        file: 'src/bundle/upgrade/compare-crds.ts',
        search: 'stored.filter((name) => !now.has(name))',
        replace: 'stored.filter(() => false)',
      },
    ],
    test: ['test/bundle/upgrade/check-crd-upgrade.test.ts', ''],
  },
  {
    number: 373,
    bug: 'pass a bundle that OLM v1 refuses',
    edits: [
      {
        file: 'src/bundle/plain/render-plain.ts',
        search: '{ objects: all.length > 0 ? [] : objects, refusals: all }',
        replace: '{ objects, refusals: refused }',
      },
    ],
    test: ['test/bundle/plain/render-plain.test.ts', ''],
  },
  {
    number: 374,
    bug: 'call a chart rendered that was not',
    edits: [
      {
        file: 'src/bundle/plain/render-plain.ts',
        search: 'templates === 0',
        replace: 'templates >= 0',
      },
    ],
    test: ['test/bundle/plain/render-plain.test.ts', ''],
  },
  {
    number: 415,
    bug: 'take a published bundle directory for a new one',
    edits: [
      {
        file: 'src/checks/ownership/required-approvals.ts',
        search: "if (!hasManifests(basePaths, bundle.root)) return 'add-bundle'",
        replace: "if (bundle.root !== '') return 'add-bundle'",
      },
    ],
    test: ['test/checks/rules.test.ts', 'consent-missing/bad/published-bundle-edited'],
  },
  {
    number: 416,
    bug: 'believe what the pull request itself says a package directory is called',
    edits: [
      {
        file: 'src/examine/read-bundle-directories.ts',
        search: 'readNeighbours(neighbours, before, root, new Map())',
        replace: 'readNeighbours(neighbours, after, root, new Map())',
      },
    ],
    test: ['test/checks/bundles/bundle-directories.test.ts', 'only this pull request declares'],
  },
  {
    number: 417,
    bug: 'list the whole repository for one bundle',
    edits: [
      {
        file: 'src/examine/read-bundle-directories.ts',
        search: 'repository.list(result, root)',
        replace: "repository.list(result, '')",
      },
    ],
    test: ['test/checks/bundles/bundle-directories.test.ts', 'without the rest of the repository'],
  },
  {
    number: 418,
    bug: 'read `merge: false` of the base alone',
    edits: [
      {
        file: 'src/checks/bundles/bundle-directories.ts',
        search: '[ownerFiles.base, ownerFiles.result]',
        replace: '[ownerFiles.base]',
      },
    ],
    test: ['test/checks/bundles/bundle-directories.test.ts', 'in the result'],
  },
  {
    number: 419,
    bug: 'let a change take `merge: false` away for itself',
    edits: [
      {
        file: 'src/checks/bundles/bundle-directories.ts',
        search: '[ownerFiles.base, ownerFiles.result]',
        replace: '[ownerFiles.result]',
      },
    ],
    test: ['test/checks/bundles/bundle-directories.test.ts', 'taken away by the change itself'],
  },
  {
    number: 420,
    bug: 'merge what is to be merged by hand',
    edits: [
      {
        file: 'src/gate/decide.ts',
        search: 'for (const why of outcome.byHand ?? [])',
        replace: 'for (const why of [] as string[])',
      },
    ],
    test: ['test/gate/decide.test.ts', 'merged by hand waits'],
  },
  {
    number: 421,
    bug: 'look at the place of a bundle and not inside',
    edits: [
      {
        file: 'src/checks/bundles/bundle-directories.ts',
        search: '...sources.touched.flatMap(({ root, findings }) =>',
        replace: '...[].flatMap(({ root, findings }: never) =>',
      },
    ],
    test: ['test/checks/bundles/bundle-directories.test.ts', 'is judged inside'],
  },
  {
    number: 422,
    bug: 'let a bundle replace itself',
    edits: [
      {
        file: 'src/checks/bundles/judge-bundle.ts',
        search: 'const itself = replaces !== undefined && replaces.text === facts.name?.text',
        replace: 'const itself = false',
      },
    ],
    test: ['test/checks/rules.test.ts', 'bundle-directory-edge-to-nowhere/bad/itself'],
  },
  {
    number: 423,
    bug: 'find the bundles that are replaced among directories alone',
    edits: [
      {
        file: 'src/checks/bundles/edges.ts',
        search: 'return directoriesByName(sources).has(name) || sources.catalogs.has(name)',
        replace: 'return directoriesByName(sources).has(name)',
      },
    ],
    test: ['test/checks/rules.test.ts', 'bundle-directory-edge-to-nowhere/good/replaces-one-of-a-catalog'],
  },
  {
    number: 424,
    bug: 'take preserveUnknownFields for no matter',
    edits: [
      {
        file: 'src/bundle/kubernetes/crd-problems.ts',
        search: 'if (preserves === true || (isOld',
        replace: 'if (isOld && (isOld',
      },
    ],
    test: ['test/checks/rules.test.ts', 'broken-crd/bad/preserves-unknown-fields'],
  },
  {
    number: 425,
    bug: 'let anybody define APIs of Kubernetes',
    edits: [
      {
        file: 'src/bundle/kubernetes/crd-problems.ts',
        search: 'if (!/(?:^|\\.)(?:k8s|kubernetes)\\.io$/.test(group)) return',
        replace: "if (group !== '') return",
      },
    ],
    test: ['test/checks/rules.test.ts', 'broken-crd/bad/group-of-kubernetes-without-approval'],
  },
  {
    number: 426,
    bug: 'let a bundle choose the namespace of its objects',
    edits: [
      {
        file: 'src/bundle/kubernetes/metadata-problems.ts',
        search: "if (namespace !== '')",
        replace: "if (namespace === '-')",
      },
    ],
    test: ['test/checks/rules.test.ts', 'broken-object-metadata/bad/a-namespace'],
  },
  {
    number: 427,
    bug: 'ask optional suites of every bundle',
    edits: [
      {
        file: 'src/checks/configured-findings.ts',
        search: 'if (suite === undefined || bundles.suites.includes(suite)) return true',
        replace: 'if (suite === undefined || bundles) return true',
      },
    ],
    test: ['test/checks/bundles/bundle-directories.test.ts', 'without the rest of the repository'],
  },
  {
    number: 385,
    bug: 'sign a preview, which nobody has agreed to',
    edits: [
      {
        file: 'src/app/publishing/signing.ts',
        search: "return order.kind === 'publish' && order.purpose === 'preview'",
        replace: 'return order.kind === undefined',
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'is nothing for a preview'],
  },
  {
    number: 386,
    bug: 'sign an image that somebody else put there, since its configs are those that we would make',
    edits: [
      {
        file: 'src/image/provenance/vouch-for.ts',
        search: 'if (await isSameButForAnnotations(registry, at, image)) return',
        replace: 'if (published.unchanged) return',
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'somebody else put there'],
  },
  {
    number: 387,
    bug: 'take an image for published although it could not be signed',
    edits: [
      {
        file: 'src/app/publishing/signing.ts',
        search: 'if (!signing.key) return',
        replace: 'if (signing.started >= 0) return',
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'has to be signed'],
  },
  {
    number: 388,
    bug: 'delete whatever the list of an old image names, although it belongs to another',
    edits: [
      {
        file: 'src/app/publishing/remove-images.ts',
        search: 'if (manifest && namedSubject(manifest.bytes) === subject) found.add(digest)',
        replace: 'if (manifest && namedSubject(manifest.bytes) !== undefined) found.add(digest)',
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'does not say that it belongs'],
  },
  {
    number: 389,
    bug: 'forget that what lies beside an image that stays is needed',
    edits: [
      {
        file: 'src/app/publishing/remove-images.ts',
        search: '  needWhatLiesBesideKept(beside, needed)\n',
        replace: '  void needWhatLiesBesideKept\n',
      },
    ],
    test: ['test/app/publishing/do-publish-order.test.ts', 'an image that stays has the same'],
  },
  {
    number: 390,
    bug: 'obey a year-old /rollback when somebody labels the merged pull request',
    edits: [
      {
        file: 'src/app/jobs/closed-commands.ts',
        search: 'if (!(now - Date.parse(createdAt) <= freshFor)) return false',
        replace: 'if (now < 0) return false',
      },
    ],
    test: ['test/app/jobs/closed-commands.test.ts', ''],
  },
  {
    number: 391,
    bug: 'take any command on a merged pull request',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search:
          "if (!isOpen && !(parsed.kind === 'command' && afterClosing.has(parsed.command.name))) continue",
        replace: 'if (!isOpen && afterClosing.size === 0) continue',
      },
    ],
    test: ['test/gate/commands.test.ts', 'closed or merged'],
  },
  {
    number: 400,
    bug: 'the install check never blocks, whatever the configuration says',
    edits: [
      {
        file: 'src/gate/demanded-checks.ts',
        search: "check.demand === 'required' || config[check.id].required",
        replace: "check.demand === 'required'",
      },
    ],
    test: ['test/gate/decide.test.ts', 'may require'],
  },
  {
    number: 401,
    bug: 'a check says of itself that it is optional',
    edits: [
      {
        file: 'src/gate/decide.ts',
        search: 'outcomes.filter(({ check }) => demanded.includes(check))',
        replace: 'outcomes.filter(({ isOptional }) => !isOptional)',
      },
    ],
    test: ['test/gate/decide.test.ts', 'may require'],
  },
  {
    number: 402,
    bug: 'what could not be found out about an install passes',
    edits: [
      {
        file: 'src/checks/install/install.ts',
        search: "    .filter(({ installs }) => installs === 'unknown')\n    .map(",
        replace: '    .filter(() => false)\n    .map(',
      },
    ],
    test: [installCheck, 'no pass'],
  },
  {
    number: 403,
    bug: 'an image that may be private is the author’s fault',
    edits: [
      {
        file: 'src/checks/install/install.ts',
        search: "if (kind === 'missing' || kind === 'unsupported'",
        replace: "if (kind === 'missing' || kind === 'missing-or-private' || kind === 'unsupported'",
      },
    ],
    test: [installCheck, 'fault'],
  },
  {
    number: 404,
    bug: 'what only a private image says is told by the install check',
    edits: [
      {
        file: 'src/checks/install/install.ts',
        search: 'answer.isRestricted === true ? withoutDetails(answer.install, blob.image) : answer.install',
        replace: 'answer.install',
      },
    ],
    test: [installCheck, 'restricted'],
  },
  {
    number: 405,
    bug: 'packages that were not tried count as installed',
    edits: [
      { file: 'src/checks/install/install.ts', search: 'if (untried > 0)', replace: 'if (untried < 0)' },
    ],
    test: [installCheck, 'more packages'],
  },
  {
    number: 406,
    bug: 'a bundle is downloaded once more for its install',
    edits: [
      {
        file: 'src/registry/cached-bundles.ts',
        search: '    await store.putCached(installSpace, new Map([[key, install]]), seconds)\n',
        replace: '',
      },
    ],
    test: ['test/registry/cached-bundles.test.ts', 'one pull'],
  },
  {
    number: 407,
    bug: 'an install that nobody could find out about is green on GitHub',
    edits: [
      {
        file: 'src/messages/check-runs.ts',
        search: "conclusion: 'neutral', title: 'Could not be found out'",
        replace: "conclusion: 'success', title: 'Could not be found out'",
      },
    ],
    test: ['test/messages/install-check.test.ts', ''],
  },
  {
    number: 408,
    bug: 'a server that could not be asked has served the catalog',
    edits: [
      {
        file: 'src/checks/install/running-catalog.ts',
        search: "if (asked.kind === 'unknown')",
        replace: "if (asked.kind === 'unknown' && false)",
      },
    ],
    test: ['test/checks/install/running-catalog.test.ts', 'says nothing'],
  },
  {
    number: 409,
    bug: 'objects without a ClusterServiceVersion are a whole bundle',
    edits: [
      {
        file: 'src/checks/install/inline-bundle.ts',
        search: "parsed.includes(undefined) || !parsed.includes('ClusterServiceVersion')",
        replace: 'parsed.includes(undefined)',
      },
    ],
    test: ['test/checks/install/running-catalog.test.ts', 'is none of'],
  },
  {
    number: 430,
    bug: 'let an automation account do alone what somebody else pushed',
    edits: [
      {
        file: `${own}/consent.ts`,
        search: '!(isBot(author) ? this.#pushesHere() : this.#pushedAlone())',
        replace: 'false',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'its rights are its own'],
  },
  {
    number: 431,
    bug: 'let an App do alone what lies in a branch of another repository',
    edits: [
      {
        file: `${own}/consent.ts`,
        search: '!(isBot(author) ? this.#pushesHere() : this.#pushedAlone())',
        replace: '!this.#pushedAlone()',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'another repository'],
  },
  {
    number: 432,
    bug: 'forget the channels that an automation account may touch',
    edits: [
      {
        file: `${own}/automation.ts`,
        search: 'touched.length > 0 && touched.every((channel) => isOneOf(channels, channel))',
        replace: 'true',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'touches no other channel'],
  },
  {
    number: 433,
    bug: 'grant all kinds of change with one of them',
    edits: [
      {
        file: `${own}/automation.ts`,
        search: 'granted.has(kind) && (',
        replace: '(',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'no other kind of change'],
  },
  {
    number: 434,
    bug: 'forget the packages that an automation account may change',
    edits: [
      {
        file: `${own}/automation.ts`,
        search: 'if (!places.every((place) => isOneOf(packages, place))) return new Set()',
        replace: '',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'no other package'],
  },
  {
    number: 435,
    bug: 'take anybody for an automation account, whoever the configuration names',
    edits: [
      {
        file: `${own}/consent.ts`,
        search: "if (isIt.kind === 'yes') for",
        replace: 'for',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'login like it'],
  },
  {
    number: 436,
    bug: 'find a pattern anywhere in a name',
    edits: [
      {
        file: 'src/config/automation.ts',
        search: 'return name.length - last.length >= at && name.endsWith(last)',
        replace: 'return name.includes(last)',
      },
    ],
    test: ['test/checks/ownership/automation.test.ts', 'whole names'],
  },
  {
    number: 437,
    bug: 'let an override outlive the change that it was given for',
    edits: [
      {
        file: 'src/gate/overrides.ts',
        search: 'overridableRules.has(override.rule) && isYesTo(record, check)',
        replace: 'overridableRules.has(override.rule)',
      },
    ],
    test: ['test/gate/overrides.test.ts', 'until'],
  },
  {
    number: 438,
    bug: 'take an override of whatever rule there is',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: "if (!overridableRules.has(rule)) return 'nobody can override this rule'",
        replace: '',
      },
    ],
    test: ['test/gate/overrides.test.ts', 'is told what is wrong'],
  },
  {
    number: 439,
    bug: 'let a rule that opm enforces be overridden once it is marked so',
    edits: [
      {
        file: 'src/checks/all-rules.ts',
        search: 'allRules.filter(({ overridable, fixed }) => overridable && !fixed)',
        replace: 'allRules',
      },
    ],
    test: ['test/gate/overrides.test.ts', 'none that opm enforces'],
  },
  {
    number: 440,
    bug: 'let owners override',
    edits: [
      { file: 'src/gate/commands.ts', search: "override: 'maintainers'", replace: "override: 'owners'" },
    ],
    test: ['test/gate/overrides.test.ts', 'nobody else does'],
  },
  {
    number: 441,
    bug: 'override all errors of a check with one rule',
    edits: [
      {
        file: 'src/gate/overrides.ts',
        search: 'const its = byRule.get(found.rule)',
        replace: 'const its = byRule.get(found.rule) ?? overrides[0]',
      },
    ],
    test: ['test/gate/overrides.test.ts', 'for what the change does'],
  },
  {
    number: 442,
    bug: 'believe an override whose comment says another rule or reason by now',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: 'words.rule === override.rule && words.reason === override.reason',
        replace: 'true',
      },
    ],
    test: ['test/gate/overrides.test.ts', 'says something else'],
  },
  {
    number: 443,
    bug: 'land what was let pass without a word of it',
    edits: [
      {
        file: 'src/examine/examine.ts',
        search: 'mergeMessage(snapshot, config.merge.message, used)',
        replace: 'mergeMessage(snapshot, config.merge.message)',
      },
    ],
    test: ['test/examine/overridden-rule.test.ts', ''],
  },
  {
    number: 444,
    bug: 'write the reason of an override into the message as it stands',
    edits: [
      {
        file: 'src/messages/merge-message.ts',
        search: 'return commitTitle(`Overridden by ${by}: ${rule}, because ${reason}`, longestLine)',
        replace: 'return `Overridden by ${by}: ${rule}, because ${reason}`',
      },
    ],
    test: ['test/gate/overrides.test.ts', 'message of the merge'],
  },
  {
    number: 445,
    bug: 'make a directory that the base has files in the first catalog',
    edits: [
      {
        file: 'src/change/layout/first-catalogs.ts',
        search: "root !== '' && !taken.has(root)",
        replace: "root !== ''",
      },
    ],
    test: ['test/change/layout/recognise-layout.test.ts', 'first catalogs'],
  },
  {
    number: 446,
    bug: 'pass over what OLM reads of a bundle under a key of another case',
    edits: [
      {
        file: 'src/change/read-by-olm.ts',
        search: "named.every((name) => name === 'type' || name === 'value')",
        replace: 'true',
      },
    ],
    test: ['test/change/describe-change.test.ts', 'by its case alone'],
  },
  {
    number: 450,
    bug: 'hold what opm refuses in a catalog to come for an old fault',
    edits: [
      {
        file: 'src/checks/bundles/judge-becoming.ts',
        search: 'base !== undefined && opm(base).length > 0',
        replace: 'base !== undefined',
      },
    ],
    test: ['test/checks/bundles/becoming.test.ts', 'opm refuses'],
  },
  {
    number: 451,
    bug: 'release an image that holds something else than what people agreed to',
    edits: [
      {
        file: 'src/examine/release/work-out-release.ts',
        search: 'const [differs] = compareWithImage(',
        replace: 'const [, differs] = compareWithImage(',
      },
    ],
    test: [workedOut, 'gets no image with another content'],
  },
  {
    number: 452,
    bug: 'let a release configuration name a template anywhere in the repository',
    edits: [
      {
        file: 'src/checks/bundles/release-plan.ts',
        search: 'if (!isPlainName(template) || !/',
        replace: 'if (!/',
      },
    ],
    test: [workedOut, 'names a template by a path'],
  },
  {
    number: 453,
    bug: 'open a release that makes a catalog invalid',
    edits: [
      {
        file: 'src/examine/release/work-out-release.ts',
        search: 'if (problems.length > 0) return',
        replace: 'if (problems.length > 1000) return',
      },
    ],
    test: [workedOut, 'breaks a catalog'],
  },
  {
    number: 454,
    bug: 'write a release over a link',
    edits: [
      {
        file: 'src/examine/release/package-at-base.ts',
        search: "if (!mode.startsWith('100')) throw",
        replace: "if (mode === '') throw",
      },
    ],
    test: [workedOut, 'writes over no link'],
  },
  {
    number: 455,
    bug: 'open a release again that people have closed',
    edits: [
      {
        file: 'src/app/jobs/release/step-release.ts',
        search: "if (own !== undefined && own.state !== 'open') {",
        replace: "if (own !== undefined && own.state === 'merged') {",
      },
      {
        file: 'src/github/own-pulls.ts',
        search: "  const found = own.find(({ state }) => state === 'open') ?? own[0]\n",
        replace: "  const found = own.find(({ state }) => state === 'open')\n",
      },
    ],
    test: [releasing, 'that people decline'],
  },
  {
    number: 456,
    bug: 'write on top of what somebody pushed to our branch',
    edits: [
      {
        file: 'src/app/jobs/release/open-release.ts',
        search: 'return tip === undefined || tip === head || tip === from',
        replace: 'return tip === undefined || tip === head || from !== tip || from === tip',
      },
    ],
    test: [releasing, 'people take over|that somebody else made'],
  },
  {
    number: 457,
    bug: 'move the branch of a release before it is written down where to',
    edits: [
      {
        file: 'src/app/jobs/release/open-release.ts',
        search: '    await remember(next)\n',
        replace: '',
      },
    ],
    test: [releasing, 'whatever the moment'],
  },
  {
    number: 458,
    bug: 'release what was there before it was switched on',
    edits: [
      {
        file: 'src/app/jobs/release/release-bundles.ts',
        search: 'await store.retainState(releases, forge.repository, [])',
        replace: '',
      },
    ],
    test: [releasing, 'what was there before'],
  },
  {
    number: 459,
    bug: 'blame the author while a registry has no image yet',
    edits: [
      {
        file: 'src/app/jobs/release/step-release.ts',
        search: 'now - entry.since < patience',
        replace: 'now - entry.since < 0',
      },
    ],
    test: [releasing, 'is waited for'],
  },
  {
    number: 460,
    bug: 'take the tree of a head whose base moved on for what would land',
    edits: [{ file: 'src/git/merge.ts', search: 'bases[0] === base && ', replace: '' }],
    test: ['test/git/merge.test.ts', 'has the base as its first parent'],
  },
  {
    number: 461,
    bug: 'take a tree that git would write otherwise for what would land',
    edits: [
      {
        file: 'src/git/merge.ts',
        search: '(await tools.isWellWritten(ours.tree, theirs.tree))',
        replace: 'true',
      },
    ],
    test: ['test/git/line-to.test.ts', 'as git writes trees'],
  },
  {
    number: 462,
    bug: 'look for colliding paths only nearby, whatever letters fold to',
    edits: [
      {
        file: `${own}/colliding-paths.ts`,
        search: 'oddPathsIn(basePaths).length === 0 && added.every(isAscii)',
        replace: 'true',
      },
    ],
    test: ['test/checks/ownership/colliding-paths.test.ts', 'folds to a slash'],
  },
  {
    number: 463,
    bug: 'keep what was worked out of another base',
    edits: [
      {
        file: 'src/change/patched-list.ts',
        search: '{ value: patched(known.value, patch) }',
        replace: '{ value: known.value }',
      },
    ],
    test: ['test/change/patched-list.test.ts', 'a patched list'],
  },
  {
    number: 464,
    bug: 'list a tree of any number of paths, where another one is known',
    edits: [{ file: 'src/git/listings.ts', search: '      refuseSize(size)\n', replace: '' }],
    test: ['test/git/listings.test.ts', 'by what differs'],
  },
  {
    number: 490,
    bug: 'let anybody’s approval make the check green for what a maintainer merges by hand',
    edits: [
      {
        file: 'src/checks/ownership/consent.ts',
        search: '        .map((account) => () => this.#people.isMaintainer(account)),',
        replace: "        .map(() => () => ({ kind: 'yes' as const })),",
      },
    ],
    test: ['test/checks/ownership/by-hand.test.ts', 'maintains nothing'],
  },
  {
    number: 491,
    bug: 'let an approval of another change make the check green for what a maintainer merges by hand',
    edits: [
      {
        file: 'src/checks/ownership/consent.ts',
        search:
          '      approvals\n        .filter((approval) => isCurrent(approval, snapshot, epoch, this.#covers))',
        replace: '      approvals\n        .filter((approval) => isOfState(approval, snapshot, epoch))',
      },
    ],
    test: ['test/checks/ownership/by-hand.test.ts', 'of another change'],
  },
  {
    number: 492,
    bug: 'let authors make the check green for their own files outside all packages',
    edits: [
      {
        file: 'src/checks/ownership/consent.ts',
        search: 'account.id !== this.#author?.id && !isBot(account)',
        replace: '!isBot(account)',
      },
    ],
    test: ['test/checks/ownership/by-hand.test.ts', 'yes of its author'],
  },
  {
    number: 493,
    bug: 'merge by itself what a maintainer approved for merging by hand',
    edits: [
      {
        file: 'src/gate/decide.ts',
        search: 'for (const { what, who } of outcome.waiting) yield',
        replace: 'for (const { what, who } of outcome.waiting.filter((one) => one.isAgreed !== true)) yield',
      },
    ],
    test: ['test/checks/ownership/by-hand.test.ts', 'not merged by the bot'],
  },
  {
    number: 494,
    bug: 'take a comment of another App with our marker for ours',
    edits: [
      {
        file: 'src/github/read-comments.ts',
        search: 'if (via !== undefined) return via === appId',
        replace: 'if (via === appId) return true',
      },
    ],
    test: ['test/github/read-comments.test.ts', 'our own comment'],
  },
  {
    number: 495,
    bug: 'show the check green while nobody knows whether the approver is a maintainer',
    edits: [
      {
        file: 'src/checks/ownership/ownership.ts',
        search: "if (agreed.kind === 'unknown') unanswered.push(...agreed.open)",
        replace: '',
      },
      {
        file: 'src/checks/ownership/ownership.ts',
        search: "...(agreed.kind === 'yes' && { isAgreed: true }),",
        replace: "...(agreed.kind !== 'no' && { isAgreed: true }),",
      },
    ],
    test: ['test/checks/ownership/by-hand.test.ts', 'does not say'],
  },
  {
    number: 465,
    bug: 'push a train whose permits do not stand on one another',
    edits: [
      {
        file: 'src/gate/train.ts',
        search: 'before !== undefined && base !== before.commit',
        replace: 'false',
      },
    ],
    test: ['test/gate/train.test.ts', ''],
  },
  {
    number: 466,
    bug: 'push a train over whatever the base is',
    edits: [
      {
        file: 'src/git/land.ts',
        search: '`--force-with-lease=${ref}:${commitSha(first.base)}`',
        replace: `'--force'`,
      },
    ],
    test: ['test/landing/land-train.test.ts', 'does not land on a base that moved'],
  },
  {
    number: 467,
    bug: 'look afresh at the first member of a train alone',
    edits: [
      {
        file: 'src/landing/fresh-look.ts',
        search: '  for (const examined of members) {',
        replace: '  for (const examined of members.slice(0, 1)) {',
      },
    ],
    test: ['test/landing/land-train.test.ts', 'ends before a member|looks at every member'],
  },
  {
    number: 468,
    bug: 'push the members behind one that changed',
    edits: [{ file: 'src/landing/land-train.ts', search: 'members.slice(0, end)', replace: 'members' }],
    test: ['test/landing/land-train.test.ts', 'ends before a member'],
  },
  {
    number: 469,
    bug: 'push a train whose intents were not all written',
    edits: [
      {
        file: 'src/landing/land-train.ts',
        search: 'if (intents.length < train.length)',
        replace: 'if (intents.length < 0)',
      },
    ],
    test: ['test/landing/land-train.test.ts', 'lost its lease'],
  },
  {
    number: 470,
    bug: 'take a train that GitHub refused for landed',
    edits: [
      {
        file: 'src/landing/land-train.ts',
        search: `acted.kind === 'done' ? 'done' : 'refused'`,
        replace: `acted.kind === 'race' ? 'refused' : 'done'`,
      },
    ],
    test: ['test/landing/land-train.test.ts', 'refused as a whole'],
  },
  {
    number: 471,
    bug: 'take a pull request for unchanged though more of it was not read',
    edits: [
      {
        file: 'src/github/shown-pull.ts',
        search: 'totalCount === nodes.length',
        replace: 'totalCount >= nodes.length',
      },
    ],
    test: ['test/github/still-as.test.ts', 'behind a full page'],
  },
  {
    number: 472,
    bug: 'push several pull requests where a branch wants a pull request a push',
    edits: [
      {
        file: 'src/gate/train.ts',
        search: `    rules.pullRequest === undefined &&
`,
        replace: '',
      },
    ],
    test: ['test/gate/train.test.ts', ''],
  },
  {
    number: 473,
    bug: 'forget comments in the fresh look at many',
    edits: [
      {
        file: 'src/github/still-as.ts',
        search: `    comments: now.comments.nodes
      .filter(({ author }) => author?.__typename === 'User')`,
        replace: `    comments: now.comments.nodes
      .filter(() => false)`,
      },
    ],
    test: ['test/github/still-as.test.ts', 'whatever changes'],
  },
  {
    number: 474,
    bug: 'keep an intent abandoned though its push arrived',
    edits: [
      {
        file: 'src/store/landings.ts',
        search: `row?.outcome === 'abandoned' && outcome === 'landed'`,
        replace: 'false',
      },
    ],
    test: ['test/store/embedded.test.ts', 'given up before'],
  },
  {
    number: 475,
    bug: 'let whoever came first ask GitHub first, a scan before a landing',
    edits: [
      {
        file: 'src/github/budget/budget.ts',
        search: 'rankOf(a.wish.work) - rankOf(b.wish.work)',
        replace: '0',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'the most important first'],
  },
  {
    number: 476,
    bug: 'write to GitHub as fast as it goes',
    edits: [
      {
        file: 'src/github/budget/budget.ts',
        search: "add('writes', lastWrite + limits.writePause)",
        replace: "add('writes', lastWrite)",
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'are a second apart'],
  },
  {
    number: 477,
    bug: 'measure pauses by the hour that the machine shows',
    edits: [
      {
        file: 'src/github/budget/budget.ts',
        search: 'clock.elapsed?.() ?? clock.now()',
        replace: 'clock.now()',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'setting the clock|sets our clock'],
  },
  {
    number: 478,
    bug: 'let scans and sweeps use up the hour',
    edits: [
      {
        file: 'src/github/budget/budget.ts',
        search: 'hasBegun ? reserves[work] / 2 : reserves[work]',
        replace: '0',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'lets in by importance'],
  },
  {
    number: 479,
    bug: 'stop half-way what was let in, and begin it anew later',
    edits: [
      {
        file: 'src/github/budget/budget.ts',
        search: 'hasBegun ? reserves[work] / 2 : reserves[work]',
        replace: 'reserves[work]',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'has begun'],
  },
  {
    number: 480,
    bug: 'spend what requests under way have spent already',
    edits: [
      {
        file: 'src/github/budget/quotas.ts',
        search: 'known.remaining - (this.#underWay.get(resource) ?? 0)',
        replace: 'known.remaining',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'under way as spent'],
  },
  {
    number: 481,
    bug: 'believe the answer that comes last, not the one that says least',
    edits: [
      {
        file: 'src/github/budget/quotas.ts',
        search: 'Math.min(known.remaining, remaining)',
        replace: 'remaining',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'whichever answer comes last'],
  },
  {
    number: 482,
    bug: 'ask with everything that waits as soon as a secondary limit may be over',
    edits: [
      {
        file: 'src/github/budget/budget.ts',
        search: "if (refusals > 0 && isProbing) add('pause', Infinity)",
        replace: '',
      },
    ],
    test: ['test/github/budget/budget.test.ts', 'one asks alone'],
  },
  {
    number: 483,
    bug: "wait for GitHub's hour by our own clock",
    edits: [
      {
        file: 'src/github/limit-answer.ts',
        search: "Date.parse(headers('date') ?? '') || now",
        replace: 'now',
      },
    ],
    test: ['test/github/limit-answer.test.ts', 'our clock is'],
  },
  {
    number: 484,
    bug: 'answer one credential with what another was told',
    edits: [
      {
        file: 'src/github/budget/kept-answers.ts',
        search: ".update(headers.get('authorization') ?? '')",
        replace: ".update('')",
      },
    ],
    test: ['test/github/budget/budgeted-fetch.test.ts', 'nor to another token'],
  },
  {
    number: 485,
    bug: 'keep an answer that GitHub has taken back',
    edits: [
      {
        file: 'src/github/budget/budgeted-fetch.ts',
        search: 'refusal === undefined && answer.status < 500',
        replace: 'refusal === undefined && answer.status < 300',
      },
    ],
    test: ['test/github/budget/budgeted-fetch.test.ts', 'does not say it any more'],
  },
  {
    number: 486,
    bug: 'ask five times more when told that it is too much',
    edits: [{ file: 'src/github/github-app.ts', search: '410, 422, 429, 451]', replace: '410, 422, 451]' }],
    test: ['test/github/budget/budgeted-fetch.test.ts', 'by 429 asks once'],
  },
  {
    number: 487,
    bug: 'take a refusal for too many requests for a missing right',
    edits: [
      {
        file: 'src/github/limit-answer.ts',
        search: '(usedUp || after !== undefined || isAboutLimit(said))',
        replace: '(usedUp || after !== undefined)',
      },
    ],
    test: ['test/github/budget/budgeted-fetch.test.ts', 'words alone'],
  },
  {
    number: 488,
    bug: 'let merging wait as the sweep does',
    edits: [
      { file: 'src/app/jobs/class-of-job.ts', search: "  train: 'landing',", replace: "  train: 'sweep'," },
    ],
    test: ['test/app/jobs/class-of-job.test.ts', 'what merges goes first'],
  },
  {
    number: 489,
    bug: 'stop for what strangers wrote into an answer',
    edits: [
      {
        file: 'src/github/limit-answer.ts',
        search: '/^(?:You have exceeded',
        replace: '/(?:You have exceeded',
      },
    ],
    test: ['test/github/budget/budgeted-fetch.test.ts', 'only holds such words'],
  },
  {
    number: 496,
    bug: 'take a pull request whose base moved for unchanged, whatever it comes to there',
    edits: [
      {
        file: 'src/app/jobs/keep-look.ts',
        search: 'if ((await digestOfShown(seen, place)) !== kept.shown) return undefined',
        replace: '',
      },
      {
        file: 'src/app/jobs/keep-look.ts',
        search: '!hasAll || seen.verdict.permit !== undefined || seen.commands.length > 0',
        replace: '!hasAll',
      },
    ],
    test: ['test/stories/waiting-pulls.test.ts', 'asked about again'],
  },
  {
    number: 497,
    bug: 'compare a snapshot that was kept in a database by the order of its keys',
    edits: [
      {
        file: 'src/landing/fresh-look.ts',
        search: 'JSON.stringify(comparable(snapshot), inOneOrder)',
        replace: 'JSON.stringify(comparable(snapshot))',
      },
    ],
    test: ['test/landing/land-train.test.ts', 'kept in a database'],
  },
  {
    number: 511,
    bug: 'land without a last look at the pull request',
    edits: [
      {
        file: 'src/landing/land-pull.ts',
        search: 'const changed = await whatSpeaksAgainst(prepared, examined, options)',
        replace: 'const changed = undefined as string | undefined',
      },
    ],
    test: ['test/landing/land-pull.test.ts', ''],
  },
  {
    number: 512,
    bug: 'land a pull request that stands on another one',
    edits: [{ file: 'src/gate/decide.ts', search: 'if (snapshot.stacked)', replace: 'if (false)' }],
    test: [changes, 'T17'],
  },
  {
    number: 513,
    bug: 'land what somebody holds',
    edits: [
      { file: 'src/gate/decide.ts', search: 'if (heldBy !== undefined) {', replace: 'if (heldBy?.isBack) {' },
    ],
    test: ['test/gate/decide.test.ts', ''],
  },
  {
    number: 514,
    bug: 'look for stops before the lease alone',
    edits: [
      {
        file: 'src/landing/land-pull.ts',
        search: '  return stop && sayStop(stop)\n',
        replace: '  return undefined\n',
      },
    ],
    test: ['test/landing/land-pull.test.ts', 'stopped'],
  },
  {
    number: 613,
    bug: 'look for stops before the merge is prepared alone',
    edits: [
      {
        file: 'src/landing/land-pull.ts',
        search: 'const stop = await whatStops(permit.landing, options)',
        replace: 'const stop = undefined as string | undefined',
      },
    ],
    test: ['test/landing/land-pull.test.ts', 'while its merge was prepared'],
  },
  {
    number: 614,
    bug: 'look for stops before a train is prepared alone',
    edits: [
      {
        file: 'src/landing/land-train.ts',
        search: 'const stop = await whatStops(permit.landing, options)',
        replace: 'const stop = undefined as string | undefined',
      },
    ],
    test: ['test/landing/land-train.test.ts', 'stopped while it was prepared'],
  },
  {
    number: 515,
    bug: 'begin a landing while it is not known what became of the one before',
    edits: [
      {
        file: 'src/landing/land-pull.ts',
        search: 'const all = await settleBranch(landing.repository, landing.baseRef, options)',
        replace: 'const all: Awaited<ReturnType<typeof settleBranch>> = []',
      },
    ],
    test: ['test/landing/land-pull.test.ts', 'before another one begins'],
  },
  {
    number: 516,
    bug: 'hold the signature of a delivery against what its JSON means',
    edits: [
      {
        file: 'src/app/edge/deliveries.ts',
        search: 'if (!isSigned(body, signature, secrets))',
        replace: 'if (!isSigned(Buffer.from(JSON.stringify(parseJson(body))), signature, secrets))',
      },
    ],
    test: ['test/app/edge/deliveries.test.ts', ''],
  },
  {
    number: 517,
    bug: 'land what an owner objects to',
    edits: [
      {
        file: `${own}/approvals.ts`,
        search: "state === 'changes-requested' && author?.id !== snapshot.author?.id",
        replace: "state === 'changes-requested' && author?.id === snapshot.author?.id",
      },
    ],
    test: [who, 'T28'],
  },
  {
    number: 518,
    bug: 'land nothing while an optional check has not passed, where checks must stand on the merge',
    edits: [
      {
        file: 'src/landing/push-merge.ts',
        search: "demand !== 'required'",
        replace: "demand !== 'required' && false",
      },
    ],
    test: ['test/landing/push-merge.test.ts', 'optional'],
  },
  {
    number: 519,
    bug: 'leave a landing of an ended process open while its pull request waits',
    edits: [
      {
        file: 'src/landing/settle-left.ts',
        search: 'for (const branch of new Set(left.map(({ baseRef }) => baseRef))) {',
        replace: 'for (const branch of new Set<string>()) {',
      },
    ],
    test: ['test/landing/settle-left.test.ts', ''],
  },
  {
    number: 520,
    bug: 'an approval counts again when the head comes back',
    edits: [
      {
        file: `${own}/approvals.ts`,
        search: 'approval.baseRef === snapshot.baseRef && approval.epoch === epoch',
        replace: 'approval.baseRef === snapshot.baseRef',
      },
    ],
    test: [who, 'T21'],
  },
  {
    number: 498,
    bug: 'make a check run once more whose answer was lost',
    edits: [
      {
        file: 'src/github/own-checks.ts',
        search: 'isNew && !isAgain ?',
        replace: 'isNew ?',
      },
    ],
    test: ['test/github/forge.test.ts', 'answer to them was lost'],
  },
  {
    number: 731,
    bug: 'mix what was read before a change with what was read after it',
    edits: [
      {
        file: 'src/github/read-at-once.ts',
        search: '!saysTheSame(facts, pullRequest)',
        replace: '(saysTheSame(facts, pullRequest), false)',
      },
    ],
    test: ['test/github/read-at-once.test.ts', 'T45'],
  },
  {
    number: 732,
    bug: 'take what a server that lags behind knows of comments for all of them',
    edits: [
      {
        file: 'src/github/read-at-once.ts',
        search: 'pullRequest.comments.totalCount !== comments',
        replace: '(comments, false)',
      },
    ],
    test: ['test/github/read-at-once.test.ts', 'lags behind'],
  },
  {
    number: 733,
    bug: "take a stranger's words for our report, by its marker alone",
    edits: [
      {
        file: 'src/github/read-at-once.ts',
        search: "comment?.author?.kind === 'bot' && body.startsWith(commentMarker)",
        replace: 'comment?.author && body.startsWith(commentMarker)',
      },
      {
        file: 'src/github/read-at-once.ts',
        search: 'by.toLowerCase() === ours ? [report] : []',
        replace: 'by.toLowerCase() !== ours.slice(0, 0) ? [report] : []',
      },
    ],
    test: ['test/github/read-at-once.test.ts', 'nothing of anybody else'],
  },
  {
    number: 734,
    bug: 'leave two comments where a process stood still while it wrote',
    edits: [
      {
        file: 'src/github/put-comment.ts',
        search: 'return isOld(known, reader) ? keepFirst',
        replace: 'return isOld({ ...known, readAt: Infinity }, reader) ? keepFirst',
      },
    ],
    test: ['test/github/forge.test.ts', 'stood still'],
  },
  {
    number: 541,
    bug: 'approve an InstallPlan whatever it names',
    edits: [
      {
        file: `${trials}/olm-v0.ts`,
        search: 'if (!wanted || !isSameSet(names, wanted.names))',
        replace: 'if (!wanted)',
      },
    ],
    test: [onCluster, 'another choice than|more than the simulation'],
  },
  {
    number: 542,
    bug: 'take a CRD that is there already for the trial’s own',
    edits: [{ file: `${trials}/olm-v0.ts`, search: 'if (theirs !== undefined)', replace: 'if (false)' }],
    test: [onCluster, 'only the InstallPlan names'],
  },
  {
    number: 543,
    bug: 'take away every CRD that the trial found',
    edits: [{ file: `${trials}/clean-up.ts`, search: '    isOurs: isBroughtByTrial,\n', replace: '' }],
    test: [onCluster, 'touches nothing'],
  },
  {
    number: 544,
    bug: 'take away trials that do not say until when they last',
    edits: [
      {
        file: `${trials}/clean-up.ts`,
        search: '.filter(([, expires]) => expires * 1000 < now)',
        replace: '',
      },
    ],
    test: [onCluster, 'touches nothing|killed at any point'],
  },
  {
    number: 545,
    bug: 'blame the author for what a registry does',
    edits: [
      {
        file: `${trials}/trial-outcome.ts`,
        search: "'registry-failing': 'infra'",
        replace: "'registry-failing': 'content'",
      },
    ],
    test: [onCluster, 'has had enough'],
  },
  {
    number: 546,
    bug: 'take what could not be seen for absent',
    edits: [
      {
        file: `${trials}/try-on-cluster.ts`,
        search: "return sighting.kind === 'failed' ? [sighting] : []",
        replace: 'return []',
      },
    ],
    test: [onCluster, 'may not look|goes away'],
  },
  {
    number: 547,
    bug: 'say that it installs while its pods do not run',
    edits: [
      {
        file: `${trials}/olm-v0.ts`,
        search: 'const lazy = deployments.filter((one) => !isAvailable(one))',
        replace: 'const lazy: typeof deployments = []',
      },
    ],
    test: [onCluster, 'never runs'],
  },
  {
    number: 556,
    bug: 'try a pull request with the image of another tree',
    edits: [
      {
        file: 'src/app/jobs/trial/catalog-images.ts',
        search: 'const key = await contentKey(publication, wish.tree, repository)',
        replace: 'const key = made?.images[0]?.key ?? ""',
      },
    ],
    test: ['test/app/jobs/publish/publish-preview.test.ts', 'trial with OLM v1'],
  },
  {
    number: 557,
    bug: 'upgrade on a cluster from whatever the tag has, whether the branch has it or not',
    edits: [
      {
        file: 'src/app/jobs/trial/catalog-images.ts',
        search: 'published.current.key === (await contentKey(publication, wish.baseTree, repository))',
        replace: 'true',
      },
    ],
    test: ['test/app/jobs/publish/publish-preview.test.ts', 'trial with OLM v1'],
  },
  {
    number: 558,
    bug: "let a stranger's Operator reach everything that the cluster reaches",
    edits: [
      {
        file: 'src/app/trials/do-trial-order.ts',
        search: 'const network = isOpen ? undefined :',
        replace: 'const network = isOpen || reaches.length >= 0 ? undefined :',
      },
    ],
    test: [trialOrders, 'reaches the API'],
  },
  {
    number: 559,
    bug: 'try with a network that is closed by half, for nobody knows where the API is',
    edits: [
      {
        file: 'src/app/trials/do-trial-order.ts',
        search: "if (network?.kind === 'unknown') return { kind: 'not-tried', why: network.why }",
        replace:
          "if (network?.kind === 'unknown') return tryOn(cluster, order, { ...target, network: { open: true, reaches } }, { clock, targets: [], open: () => Promise.resolve(cluster) }, tell)",
      },
    ],
    test: [trialOrders, 'reaches the API'],
  },
  {
    number: 560,
    bug: 'give the cluster to the next pull request of the same repository, whoever waits',
    edits: [
      {
        file: 'src/app/jobs/trial/run-trials.ts',
        search: 'if (free === undefined) return undefined',
        replace: 'if (free === undefined) return app.store.acquireLease(`trial ${slot}`, leaseSeconds)',
      },
    ],
    test: ['test/app/jobs/trial/run-trials.test.ts', 'go first'],
  },
  {
    number: 561,
    bug: "take somebody else's pod for the one that unpacks the bundle",
    edits: [
      {
        file: `${trials}/rukpak.ts`,
        search: '({ metadata }) => metadata.name === bundle?.metadata.name',
        replace: '() => true',
      },
    ],
    test: [onCluster, 'by its name'],
  },
  {
    number: 562,
    bug: "overlook an Operator's pods that are not in the trial's own namespace",
    edits: [
      {
        file: `${trials}/rukpak.ts`,
        search: "[...looks.running, ...namesIn(memory['elsewhere']).map(podsIn)]",
        replace: "[...looks.running, ...namesIn(memory['nowhere']).map(podsIn)]",
      },
    ],
    test: [onCluster, 'wherever a bundle'],
  },
  {
    number: 563,
    bug: 'take a missing right for immutability',
    edits: [
      {
        file: `${trials}/rukpak.ts`,
        search: 'if (answer && /cannot patch resource|ValidatingAdmissionPolicy/.test(answer.says))',
        replace: 'if (answer && answer.says === "")',
      },
    ],
    test: [onCluster, 'nobody can'],
  },
  {
    number: 548,
    bug: 'try on a cluster for an author whom nobody has authorised',
    edits: [
      {
        file: 'src/app/jobs/trial/wish-trial.ts',
        search: ' && outcome.waiting.length === 0',
        replace: '',
      },
    ],
    test: ['test/app/jobs/trial/wish-trial.test.ts', 'people included'],
  },
  {
    number: 549,
    bug: 'obey /test-install for another commit than the one that it was written for',
    edits: [
      {
        file: 'src/app/jobs/trial/wish-trial.ts',
        search: '      record.head === snapshot.head &&\n',
        replace: '',
      },
    ],
    test: ['test/app/jobs/trial/wish-trial.test.ts', 'exactly that one'],
  },
  {
    number: 550,
    bug: 'let owners of a package run it on the cluster',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: "'test-install': 'maintainers'",
        replace: "'test-install': 'owners'",
      },
    ],
    test: ['test/gate/commands.test.ts', 'test-install'],
  },
  {
    number: 551,
    bug: 'give every repository the first cluster',
    edits: [
      {
        file: 'src/app/trials/cluster-targets.ts',
        search: 'one.github.toLowerCase() === name &&',
        replace: '',
      },
    ],
    test: ['test/app/trials/do-trial-order.test.ts', ''],
  },
  {
    number: 552,
    bug: 'show a trial green that could not find out everything',
    edits: [
      {
        file: 'src/messages/trial-check.ts',
        search: 'open > 0 || reports.length === 0',
        replace: 'reports.length === 0',
      },
    ],
    test: ['test/messages/trial-check.test.ts', 'green only'],
  },
  {
    number: 553,
    bug: 'go on with a trial whose lease somebody else has',
    edits: [
      {
        file: 'src/app/jobs/trial/run-trials.ts',
        search: "if (!(await app.store.renewLease(ground.lease, leaseSeconds))) return 'stop'",
        replace: '',
      },
    ],
    test: ['test/app/jobs/trial/run-trials.test.ts', 'lost lease'],
  },
  {
    number: 554,
    bug: 'delete whatever has a name, though it is another object by now',
    edits: [
      {
        file: 'src/cluster/open-cluster.ts',
        search: '...(action.uid !== undefined && { preconditions: { uid: action.uid } }),',
        replace: '',
      },
    ],
    test: [onCluster, 'made anew'],
  },
  {
    number: 555,
    bug: 'let a kubeconfig start programs',
    edits: [{ file: 'src/cluster/kubeconfig.ts', search: '!allowsPrograms && ', replace: 'false && ' }],
    test: [onCluster, 'starts programs'],
  },
  {
    number: 521,
    bug: 'show a private repository to everybody',
    edits: [
      {
        file: 'src/app/pages/may-see.ts',
        search: 'listed?.isPublic === true &&',
        replace: 'listed !== undefined &&',
      },
    ],
    test: [maySeeTest, ''],
  },
  {
    number: 522,
    bug: 'believe for ever that a repository is public',
    edits: [
      {
        file: 'src/app/pages/may-see.ts',
        search: 'now - listed.listedAt <= publicFor',
        replace: 'publicFor > 0',
      },
    ],
    test: [maySeeTest, 'was public an hour ago'],
  },
  {
    number: 523,
    bug: 'take a repository for public unless GitHub says that it is internal',
    edits: [
      {
        file: 'src/github/github-app.ts',
        search: "isPrivate === false && visibility === 'public'",
        replace: "visibility !== 'internal'",
      },
    ],
    test: ['test/github/installed-repositories.test.ts', ''],
  },
  {
    number: 524,
    bug: 'put text of others into a page as markup',
    edits: [
      {
        file: 'src/web/html.ts',
        search: 'escapeHtml(oneLine(part, longestText))',
        replace: 'oneLine(part, longestText)',
      },
    ],
    test: ['test/web/html.test.ts', 'is shown as it is'],
  },
  {
    number: 525,
    bug: 'send whoever signs in wherever the address says',
    edits: [
      {
        file: 'src/web/sign-in/local-path.ts',
        search: "if (address === undefined) return '/'",
        replace: 'if (address === undefined) return wanted',
      },
    ],
    test: ['test/web/pages/addresses.test.ts', 'whoever signs in'],
  },
  {
    number: 526,
    bug: 'finish a sign-in that another browser began',
    edits: [
      {
        file: 'src/app/pages/sign-in.ts',
        search: "!isWord(query.get('state'), begun.state) || ",
        replace: '',
      },
    ],
    test: ['test/app/pages/sign-in.test.ts', 'GitHub is not even asked'],
  },
  {
    number: 527,
    bug: 'take any answer of GitHub for the right to read',
    edits: [
      {
        file: 'src/github/person-client.ts',
        search: "if (!reply.ok) return 'no'",
        replace: "if (!reply.ok) return 'yes'",
      },
    ],
    test: [pagesTest, 'what they cannot read on GitHub'],
  },
  {
    number: 528,
    bug: 'show strangers the page that was made for one person',
    edits: [
      {
        file: 'src/app/pages/open-pages.ts',
        search: 'const isShared = who === undefined',
        replace: "const isShared = asked.page !== 'sign-in'",
      },
    ],
    test: [pagesTest, 'reads what they can read on GitHub'],
  },
  {
    number: 529,
    bug: 'let anybody who is signed in resume a branch',
    edits: [
      {
        file: 'src/app/pages/resume.ts',
        search: "if (holds === 'no') return",
        replace: "if (holds === 'unknown') return",
      },
    ],
    test: ['test/app/pages/resume.test.ts', ''],
  },
  {
    number: 530,
    bug: "take a form of another site's page",
    edits: [{ file: 'src/app/pages/open-pages.ts', search: ' || origin !== publicUrl', replace: '' }],
    test: [pagesTest, 'resumes a branch where they may'],
  },
  {
    number: 531,
    bug: "run a workflow's action on pull_request_target, where a stranger's files stand beside secrets",
    edits: [
      {
        file: 'src/cli/action/run-for-event.ts',
        search: "if (event === 'pull_request') {",
        replace: "if (event === 'pull_request' || event === 'pull_request_target') {",
      },
    ],
    test: ['test/cli/action/run-for-event.test.ts', 'is refused'],
  },
  {
    number: 532,
    bug: "let a line of a finding's text begin with a command to the workflow's runner",
    edits: [
      {
        file: 'src/messages/escape.ts',
        search: "replaceAll('\\r', '%0D').replaceAll('\\n', '%0A')",
        replace: "replaceAll('\\r', '%0D')",
      },
    ],
    test: ['test/messages/workflow-log.test.ts', 'is no command'],
  },
  {
    number: 533,
    bug: "let text of others in a workflow's log hold a command in the runner's old form",
    edits: [
      {
        file: 'src/messages/escape.ts',
        search: "text.replaceAll('##[', '##\\u2060[')",
        replace: 'text',
      },
    ],
    test: ['test/messages/workflow-log.test.ts', 'is no command'],
  },
  {
    number: 534,
    bug: "give git the proxy's password in a setting, which every process of the same user can read",
    edits: [
      {
        file: 'src/git/way-settings.ts',
        search: '${encodeURIComponent(proxy.credential.username)}@',
        replace:
          '${encodeURIComponent(proxy.credential.username)}:${encodeURIComponent(proxy.credential.password)}@',
      },
    ],
    test: ['test/git/way-settings.test.ts', 'no setting'],
  },
  {
    number: 535,
    bug: 'let the proxy resolve a name whose addresses were checked here',
    edits: [
      {
        file: 'src/registry/transport/guarded-connector.ts',
        search: '{ host: address, port }',
        replace: '{ host: hostname, port }',
      },
    ],
    test: ['test/registry/transport/behind-a-proxy.test.ts', 'a checked address'],
  },
  {
    number: 536,
    bug: 'check no address where a proxy leads to it',
    edits: [
      {
        file: 'src/registry/transport/guarded-connector.ts',
        search: "way?.by === 'name' && !isIP(hostname)",
        replace: 'way !== undefined',
      },
    ],
    test: ['test/registry/transport/behind-a-proxy.test.ts', 'is refused'],
  },
  {
    number: 601,
    bug: 'take the text of a check run for its end',
    edits: [
      {
        file: 'src/github/answer.ts',
        search: "({ status, conclusion }) => status === 'completed' && !green.has(conclusion ?? '')",
        replace:
          "({ status, conclusion, output }) => status === 'completed' && !green.has(conclusion ?? '') && !/pass/i.test(output.title ?? '')",
      },
    ],
    test: ['test/github/forge.test.ts', 'from that App alone'],
  },
  {
    number: 602,
    bug: 'take a job for done before it is',
    edits: [
      {
        file: 'src/store/worker.ts',
        search: '      await handler(taken.job)\n',
        replace: '      await jobs.complete(taken)\n      await handler(taken.job)\n',
      },
    ],
    test: ['test/store/embedded.test.ts', 'tried again after a pause'],
  },
  {
    number: 603,
    bug: 'remember in memory alone what a delivery asks for',
    edits: [
      {
        file: 'src/app/edge/deliveries.ts',
        search: '    const outcome = await store.accept(\n',
        replace: `    const jobs = jobsOfDelivery(event, payload, appId)
    setTimeout(() => void jobs.map((job) => (store as any).enqueue?.(job)), 1000).unref()
    const outcome = await store.accept(
`,
      },
      {
        file: 'src/app/edge/deliveries.ts',
        search: '        ...jobsOfDelivery(event, payload, appId),\n',
        replace: '',
      },
    ],
    test: ['test/app/edge/deliveries.test.ts', ''],
  },
  {
    number: 604,
    bug: "take a part of an answer for all of it: GraphQL's errors are ignored",
    edits: [
      {
        file: 'src/github/answer.ts',
        search: 'await octokit.graphql<unknown>(editsOfComment, { id: node })',
        replace:
          'await octokit.graphql<unknown>(editsOfComment, { id: node }).catch((error: { data?: unknown }) => error.data)',
      },
    ],
    test: ['test/github/forge.test.ts', 'when GitHub does not say'],
  },
  {
    number: 605,
    bug: 'merge what nobody could merge',
    edits: [
      {
        file: 'src/gate/decide.ts',
        search: "if (merge.kind === 'conflict') {",
        replace: 'if (false as boolean && merge.kind === "conflict") {',
      },
    ],
    test: ['test/gate/decide.test.ts', ''],
  },
  {
    number: 606,
    bug: 'take a SHA-1 signature',
    edits: [
      {
        file: 'src/app/edge/deliveries.ts',
        search: "single(request.headers['x-hub-signature-256'])",
        replace:
          "(single(request.headers['x-hub-signature-256']) || single(request.headers['x-hub-signature']))",
      },
      {
        file: 'src/app/edge/deliveries.ts',
        search: 'if (signature === undefined || !/^sha256=',
        replace: `if (signature?.startsWith('sha1='))
    return secrets.some(
      (secret) => signature === \`sha1=\${createHmac('sha1', secret).update(body).digest('hex')}\`,
    )
  if (signature === undefined || !/^sha256=`,
      },
    ],
    test: ['test/app/edge/deliveries.test.ts', 'stores nothing'],
  },
  {
    number: 607,
    bug: 'take it that a check has ended for that it has passed',
    edits: [
      {
        file: 'src/github/answer.ts',
        search: "status === 'completed' && !green.has(conclusion ?? '')",
        replace: "status !== 'completed' && conclusion === 'failure'",
      },
    ],
    test: ['test/github/forge.test.ts', 'from that App alone'],
  },
  {
    number: 608,
    bug: 'let whoever maintains a repository override whatever rule there is',
    edits: [
      {
        file: 'src/gate/commands.ts',
        search: "if (!overridableRules.has(rule)) return 'nobody can override this rule'",
        replace: '',
      },
      {
        file: 'src/gate/overrides.ts',
        search: 'overridableRules.has(override.rule) && isYesTo(record, check)',
        replace: 'isYesTo(record, check)',
      },
    ],
    test: ['test/gate/overrides.test.ts', ''],
  },
  {
    number: 609,
    bug: 'forget that a pull request was for a branch that the bot does not work for',
    edits: [
      {
        file: 'src/app/jobs/examine-pull.ts',
        search: '    await seeElsewhere(snapshot, app.store)\n',
        replace: '',
      },
    ],
    test: ['test/simulate/simulated-worlds.test.ts', 'a visit to a branch'],
  },
  {
    number: 610,
    bug: 'land what was something else between its verdict and the last look',
    edits: [
      {
        file: 'src/landing/land-pull.ts',
        search: 'if (!(await isInItsEpoch(examined, permit.landing, options.store)))',
        replace: 'if (false as boolean)',
      },
    ],
    test: ['test/landing/land-pull.test.ts', 'is again what it was'],
  },
  {
    number: 611,
    bug: 'land in a train what was something else between its verdict and the last look',
    edits: [
      {
        file: 'src/landing/land-train.ts',
        search: '!(await isInItsEpoch(examined, permit.landing, options.store))',
        replace: '(false as boolean)',
      },
    ],
    test: ['test/landing/land-train.test.ts', 'is again what it was'],
  },
  {
    number: 612,
    bug: 'take a review that was first seen elsewhere for one of what comes back',
    edits: [
      {
        file: 'src/app/jobs/see-elsewhere.ts',
        search: '    reviews.map(({ id }) => id),',
        replace: '    [],',
      },
    ],
    test: ['test/app/jobs/see-elsewhere.test.ts', 'first seen there'],
  },
  {
    number: 620,
    bug: 'forget what was agreed to on a pull request that was closed, and can be reopened',
    edits: [
      {
        file: 'src/store/prune.ts',
        search: "AND seen.state = 'merged' AND seen.ended_at <",
        replace: 'AND seen.ended_at <',
      },
    ],
    test: ['test/store/migrations.test.ts', 'what decisions stood on'],
  },
  {
    number: 630,
    bug: 'take a manifest of several documents for its first one alone',
    edits: [
      {
        file: 'src/bundle/regular-manifest.ts',
        search: 'document?.end === bytes.length ? document : undefined',
        replace: 'document',
      },
    ],
    test: ['test/bundle/regular-manifest.test.ts', 'of several documents is the first one'],
  },
  {
    number: 632,
    bug: 'know a directory by a text that the name of a file can imitate',
    edits: [
      {
        file: 'src/examine/read-bundle-files.ts',
        search: 'return JSON.stringify(entries.map(({ path, oid }) => [oid, path.slice(root.length + 1)]))',
        replace: "return entries.map(({ path, oid }) => `${oid} ${path.slice(root.length + 1)}`).join('\\n')",
      },
    ],
    test: ['test/examine/read-neighbours.test.ts', 'no name of a file'],
  },
  {
    number: 735,
    bug: 'our marker believed from anybody in what GraphQL answers',
    edits: [
      {
        file: 'src/github/read-at-once.ts',
        search: '(by.toLowerCase() === ours ? [report] : [])',
        replace: '(by === ours || true ? [report] : [])',
      },
      {
        file: 'src/github/read-at-once.ts',
        search: "comment?.author?.kind === 'bot' && body.startsWith(commentMarker)",
        replace: 'comment?.author != null && body.startsWith(commentMarker)',
      },
    ],
    test: ['test/github/read-at-once.test.ts', 'nothing of anybody else'],
  },
  {
    number: 736,
    bug: 'take it for said on our issue what a stranger wrote there with our marker',
    edits: [
      {
        file: 'src/github/own-issues.ts',
        search: 'comment.performed_via_github_app?.id === appId && ',
        replace: '',
      },
    ],
    test: ['test/github/forge.test.ts', 'whoever else wrote it there'],
  },
]

export type Fate = 'killed' | 'survived' | 'does not fit' | 'no place here'

/** Copies what tests need into a new folder; dependencies are linked. */
function copyProject(root: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'catalog-bot-mutants-'))
  for (const part of [
    'src',
    'sandbox',
    'simulate',
    'test',
    'fixtures',
    'scripts',
    'docs',
    'package.json',
    'jest.config.js',
    'tsconfig.json',
  ])
    cpSync(join(root, part), join(folder, part), { recursive: true })
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  return folder
}

/** Makes the edits of a mutant in `folder`; gives back how to undo them, or undefined when one does not fit. */
function mutate(folder: string, edits: readonly Edit[]): (() => void) | undefined {
  const before = new Map<string, string>()
  const undo = () => {
    for (const [file, text] of before) writeFileSync(file, text)
  }
  for (const { file, search, replace } of edits) {
    const path = join(folder, file)
    let text: string
    try {
      text = readFileSync(path, 'utf8')
    } catch {
      undo()
      return undefined
    }
    if (text.split(search).length !== 2) {
      undo()
      return undefined
    }
    if (!before.has(path)) before.set(path, text)
    writeFileSync(
      path,
      text.replace(search, () => replace),
    )
  }
  return undo
}

function run(folder: string, [file, names]: NonNullable<Mutant['test']>): boolean {
  const { status } = spawnSync(
    process.execPath,
    // A test that fails may leave a process of its own, for which jest would wait.
    [
      '--no-warnings',
      'node_modules/jest/bin/jest.js',
      '--forceExit',
      file,
      ...(names === '' ? [] : ['-t', names]),
    ],
    { cwd: folder, stdio: 'ignore', timeout: 10 * 60_000 },
  )
  return status === 0
}

/** Worlds for each mutant, the same for all of them. */
const usualWorlds = 300

/** What the simulator makes of the project in `folder`, from one world on: the first in which it saw what must not be, and what. */
function simulate(
  folder: string,
  from: number,
  worlds: number,
): { readonly world: number; readonly what: string } | undefined {
  const { stdout, status } = spawnSync(
    process.execPath,
    ['--no-warnings', 'simulate/simulate.ts', '--seed', String(from), '--runs', String(worlds), '--first'],
    { cwd: folder, encoding: 'utf8', timeout: 20 * 60_000 },
  )
  if (status === 0) return undefined
  const seen = new Set([...stdout.matchAll(/VIOLATION (\w+)/g)].map(([, invariant]) => invariant))
  const count = Number(/^(\d+) runs/m.exec(stdout)?.[1] ?? 1)
  return { world: from + count - 1, what: seen.size === 0 ? 'it ends' : [...seen].join(', ') }
}

/** The files of the project that run in simulated worlds: what its entry imports, and what that imports. */
export function filesInWorlds(root: string): ReadonlySet<string> {
  const found = new Set<string>()
  const left = ['simulate/simulate.ts']
  for (let file = left.pop(); file !== undefined; file = left.pop()) {
    if (found.has(file)) continue
    found.add(file)
    const text = readFileSync(join(root, file), 'utf8').replace(/^import type [^;]*? from '[^']+'$/gm, '')
    for (const [, to = ''] of text.matchAll(/(?:from |import\(|new URL\()'(\.{1,2}\/[^']+\.ts)'/g))
      left.push(join(dirname(file), to))
  }
  return found
}

/** After how many worlds a mutant is seen, or why it is not. What its world shows without it as well does not count. */
function fateInWorlds(folder: string, { edits = [] }: Mutant, worlds: number): string {
  const inside = filesInWorlds(folder)
  if (!edits.some(({ file }) => inside.has(file))) return 'its code does not run there'
  const undo = mutate(folder, edits)
  if (undo === undefined) return 'does not fit'
  let seen: ReturnType<typeof simulate>
  try {
    seen = simulate(folder, 1, worlds)
  } finally {
    undo()
  }
  if (seen === undefined) return `not in ${worlds}`
  const { world, what } = seen
  return simulate(folder, world, 1) === undefined
    ? `in world ${world}: ${what}`
    : `world ${world} is bad without it, too`
}

function fateOf(folder: string, { edits, test }: Mutant): Fate {
  if (edits === undefined || test === undefined) return 'no place here'
  const undo = mutate(folder, edits)
  if (undo === undefined) return 'does not fit'
  try {
    return run(folder, test) ? 'survived' : 'killed'
  } finally {
    undo()
  }
}

/** Each mutant before the tests that must notice it. A test that fails anyway kills nothing. */
function tryInTests(folder: string, chosen: readonly Mutant[]): void {
  const tests = new Map(chosen.flatMap(({ test }) => (test ? [[test.join(' '), test] as const] : [])))
  for (const test of tests.values())
    if (!run(folder, test)) {
      process.stdout.write(`without any mutant, ${test.join(' ')} fails\n`)
      process.exitCode = 1
    }
  for (const mutant of chosen) {
    const fate = fateOf(folder, mutant)
    if (fate === 'survived' || fate === 'does not fit') process.exitCode = 1
    process.stdout.write(`${String(mutant.number).padStart(2)}  ${fate.padEnd(13)}  ${mutant.bug}\n`)
  }
}

/** Each mutant in simulated worlds. Many cannot show there: this tells, and judges nothing. */
function tryInWorlds(folder: string, chosen: readonly Mutant[], worlds: number): void {
  for (const mutant of chosen.filter(({ edits }) => edits !== undefined))
    process.stdout.write(
      `${String(mutant.number).padStart(3)}  ${fateInWorlds(folder, mutant, worlds).padEnd(28)}  ${mutant.bug}\n`,
    )
}

/** The forty-five bugs, a row each: which mutants stand for it, whether tests kill them, and what simulated worlds see of them. */
function printTable(folder: string, worlds: number): void {
  process.stdout.write('| | bug | mutants | killed by tests | seen in simulated worlds |\n')
  for (const [number, { bug, made }] of fortyFiveBugs.entries()) {
    const own = mutants.filter((mutant) => made.includes(mutant.number))
    const fates = own.map((mutant) => fateOf(folder, mutant))
    if (own.length !== made.length || fates.some((fate) => fate !== 'killed')) process.exitCode = 1
    const seen = own.map((mutant) => fateInWorlds(folder, mutant, worlds))
    const cells = [number + 1, bug, made.join(', '), fates.join(', '), seen.join('; ')]
    process.stdout.write(`| ${cells.join(' | ')} |\n`)
  }
}

if (process.argv[1] === import.meta.filename) {
  const { values, positionals } = parseArgs({
    options: {
      'with-simulator': { type: 'boolean', default: false },
      table: { type: 'boolean', default: false },
      worlds: { type: 'string', default: String(usualWorlds) },
    },
    allowPositionals: true,
  })
  const wanted = new Set(positionals.map(Number))
  const worlds = Number(values.worlds)
  const chosen = mutants.filter(({ number }) => wanted.size === 0 || wanted.has(number))
  const folder = copyProject(join(import.meta.dirname, '..'))
  try {
    if (values.table) printTable(folder, worlds)
    else if (values['with-simulator']) tryInWorlds(folder, chosen, worlds)
    else tryInTests(folder, chosen)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
