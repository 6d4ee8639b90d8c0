import { expect, test } from '@jest/globals'
import fc from '../seeded.ts'
import { renderMermaidBlock } from '../../src/report/escape.ts'

test('a picture is a block of Mermaid', () => {
  expect(renderMermaidBlock('flowchart BT')).toBe('```mermaid\nflowchart BT\n```')
})

test('no source ends its block early', () => {
  const source = fc.array(fc.constantFrom('`', '```', '\n', 'a', '</details>'), { maxLength: 30 })
  fc.assert(
    fc.property(source, (parts) => {
      const [opening = '', ...lines] = renderMermaidBlock(parts.join('')).split('\n')
      const fence = opening.replace('mermaid', '')
      expect(lines.findIndex((line) => line.trim().startsWith(fence))).toBe(lines.length - 1)
    }),
  )
})
