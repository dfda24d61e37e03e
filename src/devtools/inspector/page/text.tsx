import type { ComponentChildren, VNode } from 'preact'
import { deceptive, escapeDeceptive, escapeOf } from '../../../kernel/json/deceptive.ts'

// A blank that is no space is as wide as one, and another character for what runs.
const unseenPattern = new RegExp(`(?![\\n\\t ])(?:([\\p{Zs}\u2800])|${deceptive.source})`, deceptive.flags)

/** Returns text for an attribute or a line, with unseen characters written out. */
export function visibleMarks(text: string): string {
  return escapeDeceptive(text, '\n\t')
}

/** Returns text on one line. */
export function onOneLine(text: string, longest = 300): string {
  const start = text.slice(0, longest).replace(/\s+/g, ' ')
  return visibleMarks(text.length > longest ? `${start}…` : start)
}

/** Shows text. Characters that are not seen are written out, and marked; strange blanks are marked. */
export function Text({ of: text }: { readonly of: string }): VNode {
  const parts: ComponentChildren[] = []
  let end = 0
  for (const { 0: found, 1: blank, index } of text.matchAll(unseenPattern)) {
    parts.push(text.slice(end, index), <mark>{blank ?? escapeOf(found)}</mark>)
    end = index + found.length
  }
  return <>{[...parts, text.slice(end)]}</>
}

/** Longer JSON has no colours. */
const mostColoured = 40_000
const jsonToken = /("(?:\\.|[^"\\])*")(\s*:)?|\b(?:true|false|null)\b|-?\b\d[\d.eE+-]*/g

/** Shows a value as JSON. */
export function JsonView({ of: value }: { readonly of: unknown }): VNode {
  const text = JSON.stringify(value, null, 2) ?? 'undefined'
  if (text.length > mostColoured) return <Text of={text} />
  const parts: ComponentChildren[] = []
  let end = 0
  for (const { 0: found, 1: quoted, 2: colon = '', index } of text.matchAll(jsonToken)) {
    const kind = quoted === undefined ? 'value' : colon === '' ? 'text' : 'key'
    parts.push(
      text.slice(end, index),
      <span class={kind}>
        <Text of={quoted ?? found} />
      </span>,
      colon,
    )
    end = index + found.length
  }
  return <>{[...parts, text.slice(end)]}</>
}

/** Returns JSON on one line. */
export function jsonOnLine(value: unknown): string {
  return value === undefined ? '' : onOneLine(JSON.stringify(value) ?? '')
}

/** Returns a duration. */
export function durationText(milliseconds: number): string {
  if (milliseconds < 1_000) return `${Number(milliseconds.toFixed(milliseconds < 10 ? 1 : 0))} ms`
  const seconds = milliseconds / 1_000
  if (seconds < 60) return `${seconds.toFixed(1)} s`
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`
  return seconds < 172_800
    ? `${Math.floor(seconds / 3_600)} h ${Math.floor((seconds % 3_600) / 60)} min`
    : `${Math.floor(seconds / 86_400)} days`
}

/** Returns the time of day, with the day if it is not today's. */
export function clock(milliseconds: number): string {
  const date = new Date(milliseconds)
  const isToday = date.toDateString() === new Date().toDateString()
  const time = date.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit', second: '2-digit', hour12: false })
  return isToday ? time : `${date.toLocaleDateString([], { month: 'short', day: 'numeric' })}, ${time}`
}
