// The settings for merge commit messages: a title and a body with placeholders in braces. src/report/merge-message.ts
// fills in and sanitizes the values of the placeholders.
import { z } from 'zod'

const messagePlaceholders = ['number', 'title', 'head', 'author'] as const

export type MessagePlaceholder = (typeof messagePlaceholders)[number]

export const messagePlaceholderPattern = /\{([^{}]*)\}/g

const knownPlaceholders: ReadonlySet<string> = new Set(messagePlaceholders)

const createMessageTemplateSchema = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .superRefine((text, context) => {
      for (const [, name = ''] of text.matchAll(messagePlaceholderPattern))
        if (!knownPlaceholders.has(name))
          context.addIssue({
            code: 'custom',
            message: `unknown placeholder {${name}}; use one of: ${messagePlaceholders.map((each) => `{${each}}`).join(', ')}`,
          })
      if (/[{}]/.test(text.replace(messagePlaceholderPattern, '')))
        context.addIssue({
          code: 'custom',
          message: 'braces are allowed only in placeholders such as {number}',
        })
    })

export const mergeMessageSchema = z
  .strictObject({
    title: createMessageTemplateSchema(200)
      .refine((text) => !/[\r\n]/.test(text), 'must be a single line')
      .optional()
      .describe(
        'First line of the merge commit message, with the placeholders {number}, {title}, {head}, and {author}. Text that triggers actions in GitHub or CI systems (such as `#12`, `@name`, and `[skip ci]`) is removed.',
      ),
    body: createMessageTemplateSchema(2000)
      .optional()
      .describe(
        'Body of the merge commit message, with the same placeholders. catalog-bot always adds the line that names the head.',
      ),
  })
  .prefault({})
  .describe('Merge commit message. By default, it contains the number, title, and head of the pull request.')

export type MergeMessageTemplate = z.output<typeof mergeMessageSchema>
