// What the configuration says of the message of a merge: a title and a body with placeholders in braces. What stands for
// a placeholder is filled in, and made harmless, in src/messages/merge-message.ts.
import { z } from 'zod'

const messagePlaceholders = ['number', 'title', 'head', 'author'] as const

export type MessagePlaceholder = (typeof messagePlaceholders)[number]

export const messagePlaceholderPattern = /\{([^{}]*)\}/g

const knownPlaceholders: ReadonlySet<string> = new Set(messagePlaceholders)

const templateSchema = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .superRefine((text, context) => {
      for (const [, name = ''] of text.matchAll(messagePlaceholderPattern))
        if (!knownPlaceholders.has(name))
          context.addIssue({
            code: 'custom',
            message: `{${name}} is no placeholder: there are ${messagePlaceholders.map((each) => `{${each}}`).join(', ')}`,
          })
      if (/[{}]/.test(text.replace(messagePlaceholderPattern, '')))
        context.addIssue({ code: 'custom', message: 'a brace must belong to a placeholder such as {number}' })
    })

export const mergeMessageSchema = z
  .strictObject({
    title: templateSchema(200)
      .refine((text) => !/[\r\n]/.test(text), 'must be one line')
      .optional()
      .describe(
        'First line of the message of a merge, with {number}, {title}, {head} and {author}. Words on which GitHub or a CI system acts (such as `#12`, `@name`, `[skip ci]`) are taken out.',
      ),
    body: templateSchema(2000)
      .optional()
      .describe(
        'The lines below it, with the same placeholders. The line that names the head is always added.',
      ),
  })
  .prefault({})
  .describe('Message of the merge. Without it: the number and the title of the pull request, and its head.')

export type MergeMessageTemplate = z.output<typeof mergeMessageSchema>
