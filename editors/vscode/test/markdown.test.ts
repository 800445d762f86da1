import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toHtml } from '../src/webview/markdown.ts';

test('Markdown is rendered', () => {
  assert.equal(toHtml('**bold** and `code`').trim(), '<p><strong>bold</strong> and <code>code</code></p>');
});

test('HTML in what an agent writes is shown, not obeyed', () => {
  const html = toHtml('<img src=x onerror="alert(1)">\n\n<script>alert(1)</script>');
  assert.doesNotMatch(html, /<(img|script)/);
  assert.match(html, /&lt;script&gt;/);
});

test('a script makes no link, and no picture is loaded', () => {
  assert.doesNotMatch(toHtml('[click](javascript:alert(1)) [or](data:text/html,x)'), /href/);
  assert.doesNotMatch(toHtml('![picture](https://example.com/tracker.png)'), /<img/);
});
