// Accounts that work without people: what each of them may change alone. A grant, and never more than it says; whatever
// else such an account does is judged as everybody's.
import { z } from 'zod'
import { changeKindNames, changeKindDescriptions, type ChangeKind } from './permissions.ts'

/** Who owns something, and which packages and catalogs there are, is for people to decide. */
const peopleOnlyChanges: ReadonlySet<ChangeKind> = new Set([
  'add-package',
  'remove-package',
  'add-catalog',
  'edit-owners',
])

type Grantable = Exclude<ChangeKind, 'add-package' | 'remove-package' | 'add-catalog' | 'edit-owners'>

const grantableChanges = changeKindNames.filter((kind): kind is Grantable => !peopleOnlyChanges.has(kind))

const nameSchema = (subject: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[!-~]+$/, `must be the name of a ${subject}, in which * stands for any characters`)

export const automationSchema = z
  .array(
    z.strictObject({
      account: z
        .string()
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?(?::[1-9][0-9]{0,15})?$/,
          'must be a login, login:id, or the account of an App as name[bot] or name[bot]:id',
        )
        .describe(
          'Login of the account, with its account id as login:id where it shall count under no other; `name[bot]` for an App.',
        ),
      packages: z
        .array(nameSchema('package'))
        .min(1)
        .describe('Packages that it may change, in which `*` stands for any characters.'),
      channels: z
        .array(nameSchema('channel'))
        .default([])
        .describe(
          'Channels that it may touch, such as `*-nightly`. Without any: none, so that it cannot add versions.',
        ),
      changes: z
        .array(z.enum(grantableChanges))
        .min(1)
        .describe(
          `Kinds of change that it may make alone: ${grantableChanges.map((kind) => `\`${kind}\` (${changeKindDescriptions[kind].toLowerCase().replace(/\.$/, '')})`).join(', ')}.`,
        ),
    }),
  )
  .max(100)
  .default([])
  .describe(
    'Apps and machine accounts, and what each may change without anybody’s approval. It counts for commits that the account pushed itself, and for an App on branches of this repository only.',
  )

export type Automation = z.output<typeof automationSchema>[number]

/** Whether a name is what a pattern says. In linear time: names are strangers'. */
export function matchesNamePattern(pattern: string, name: string): boolean {
  const [first = '', ...others] = pattern.split('*')
  const last = others.pop()
  if (last === undefined) return pattern === name
  if (!name.startsWith(first)) return false
  let at = first.length
  for (const part of others) {
    const found = name.indexOf(part, at)
    if (found < 0) return false
    at = found + part.length
  }
  return name.length - last.length >= at && name.endsWith(last)
}
