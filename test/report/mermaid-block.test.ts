import { expect, test } from '@jest/globals'
import fc from '../seeded.ts'
import { renderMermaidBlock } from '../../src/report/escape.ts'

test('a diagram is a Mermaid code block', () => {
  expect(renderMermaidBlock('flowchart BT')).toBe('```mermaid\nflowchart BT\n```')
})

test('no diagram source can end its code block', () => {
  const source = fc.array(fc.constantFrom('`', '```', '\n', 'a', '</details>'), { maxLength: 30 })
  fc.assert(
    fc.property(source, (parts) => {
      const [opening = '', ...lines] = renderMermaidBlock(parts.join('')).split('\n')
      const fence = opening.replace('mermaid', '')
      expect(lines.findIndex((line) => line.trim().startsWith(fence))).toBe(lines.length - 1)
    }),
  )
})
