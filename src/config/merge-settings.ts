// Automation accounts and the changes that each of them can make without approval. All other changes of such an account follow
// the permission table.
import { z } from 'zod'
import { requiredText, section } from './setting-schemas.ts'
import { changeKindNames, type ChangeKind } from './change-kinds.ts'

const mergeMessagePlaceholders = ['number', 'title', 'head', 'author'] as const

/**
 * The settings for merge commit messages: a title and a body with placeholders in braces. src/report/merge-message.ts
 * fills in and sanitizes the values of the placeholders.
 */
export type MergeMessagePlaceholder = (typeof mergeMessagePlaceholders)[number]

export const mergeMessagePlaceholderPattern = /\{([^{}]*)\}/g

const knownMergeMessagePlaceholders: ReadonlySet<string> = new Set(mergeMessagePlaceholders)

const createMergeMessageTemplateSchema = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .superRefine((text, context) => {
      for (const [, name = ''] of text.matchAll(mergeMessagePlaceholderPattern))
        if (!knownMergeMessagePlaceholders.has(name))
          context.addIssue({
            code: 'custom',
            message: `unknown placeholder {${name}}; use one of: ${mergeMessagePlaceholders.map((each) => `{${each}}`).join(', ')}`,
          })
      if (/[{}]/.test(text.replace(mergeMessagePlaceholderPattern, '')))
        context.addIssue({
          code: 'custom',
          message: 'braces are allowed only in placeholders such as {number}',
        })
    })

export const mergeMessageSchema = section(
  'Merge commit message. By default, it contains the number, title, and head of the pull request.',
  {
    title: createMergeMessageTemplateSchema(200)
      .refine((text) => !/[\r\n]/.test(text), 'must be a single line')
      .optional()
      .describe(
        'First line of the merge commit message, with the placeholders {number}, {title}, {head}, and {author}. Text that triggers actions in GitHub or CI systems (such as `#12`, `@name`, and `[skip ci]`) is removed.',
      ),
    body: createMergeMessageTemplateSchema(2000)
      .optional()
      .describe(
        'Body of the merge commit message. The body can contain the placeholders that the first line supports. catalog-bot always adds a line that identifies the head.',
      ),
  },
)

export type MergeMessageTemplate = z.output<typeof mergeMessageSchema>

/**
 * Checks of other Apps that must succeed before a pull request is merged. The settings identify an App by ID, because
 * any App can use any check name.
 */
export const requiredChecksSchema = z
  .array(
    z.strictObject({
      app: z
        .number()
        .int()
        .positive()
        .describe('ID of the App that reports the check. The app ID of GitHub Actions is 15368.'),
      name: requiredText('Name of the check run, exactly as shown on GitHub.'),
    }),
  )
  .max(50)
  .default([])
  .describe(
    'Checks from other Apps, or the `catalog-bot / cluster` check from this App, that must succeed on the head of a pull request before it is merged. catalog-bot waits for missing checks.',
  )

export type RequiredExternalCheck = z.output<typeof requiredChecksSchema>[number]

/** Only a user, not an App, can decide who the owners are and which packages and catalogs exist. */
const humanOnlyChangeKinds: ReadonlySet<ChangeKind> = new Set([
  'add-package',
  'remove-package',
  'add-catalog',
  'edit-owners',
])

type AutomatableChangeKind = Exclude<
  ChangeKind,
  'add-package' | 'remove-package' | 'add-catalog' | 'edit-owners'
>

const automatableChangeKinds = changeKindNames.filter(
  (kind): kind is AutomatableChangeKind => !humanOnlyChangeKinds.has(kind),
)

const createWildcardPatternSchema = (subject: string) =>
  z
    .string()
    .min(1)
    .max(200)
    .regex(/^[!-~]+$/, `must be the name of a ${subject}, in which * matches any characters`)

export const automationSchema = z
  .array(
    z.strictObject({
      account: z
        .string()
        .regex(
          /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}(?:\[bot\])?(?::[1-9][0-9]{0,15})?$/,
          'must be a login, login:id, or the account of an App in the form name[bot] or name[bot]:id',
        )
        .describe(
          'Login of the account, or `name[bot]` for an App. To match only one account ID, use `login:id`.',
        ),
      packages: z
        .array(createWildcardPatternSchema('package'))
        .min(1)
        .describe('Packages that the account can change. `*` matches any characters.'),
      channels: z
        .array(createWildcardPatternSchema('channel'))
        .default([])
        .describe(
          'Channels that the account can change, such as `*-nightly`. If empty, the account can’t change any channel, and therefore can’t add versions.',
        ),
      changes: z
        .array(z.enum(automatableChangeKinds))
        .min(1)
        .describe(
          'Kinds of changes that the account can make without approval. The possible values are those of `permissions`, except `add-package`, `remove-package`, `add-catalog`, and `edit-owners`.',
        ),
    }),
  )
  .max(100)
  .default([])
  .describe(
    'Apps and machine accounts that can make certain changes without approval. An entry does not apply to commits that another account pushed. For an App, an entry applies only to branches in this repository.',
  )

export type AutomationConfig = z.output<typeof automationSchema>[number]

/** Whether a name matches a pattern. Runs in linear time, because names are untrusted input. */
export function matchesWildcardPattern(pattern: string, name: string): boolean {
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
