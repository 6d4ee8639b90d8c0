// The settings for merge commit messages: a title and a body with placeholders in braces. src/report/merge-message.ts
// fills in and sanitizes the values of the placeholders.
import { z } from 'zod'

const mergeMessagePlaceholders = ['number', 'title', 'head', 'author'] as const

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

export const mergeMessageSchema = z
  .strictObject({
    title: createMergeMessageTemplateSchema(200)
      .refine((text) => !/[\r\n]/.test(text), 'must be a single line')
      .optional()
      .describe(
        'First line of the merge commit message, with the placeholders {number}, {title}, {head}, and {author}. Text that triggers actions in GitHub or CI systems (such as `#12`, `@name`, and `[skip ci]`) is removed.',
      ),
    body: createMergeMessageTemplateSchema(2000)
      .optional()
      .describe(
        'Body of the merge commit message, with the same placeholders. catalog-bot always adds a line that identifies the head.',
      ),
  })
  .prefault({})
  .describe('Merge commit message. By default, it contains the number, title, and head of the pull request.')

export type MergeMessageTemplate = z.output<typeof mergeMessageSchema>
