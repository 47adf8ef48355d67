package credit

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// mostNotes and longestNote bound what people write on one task.
const (
	mostNotes   = 200
	longestNote = 4000
)

// NoteTask adds what a person has to say to the task, closed or open. It is pure.
func NoteTask(t Task, by, text string, at time.Time) (Task, error) {
	switch {
	case text == "":
		return t, Refuse("text", "the note is empty")
	case len(text) > longestNote:
		return t, Refuse("text", "a note has at most %d bytes, this one has %d", longestNote, len(text))
	case len(t.Notes) >= mostNotes:
		return t, Refuse("full", "task %d has %d notes; close it and go on where the matter is kept", t.ID, len(t.Notes))
	}
	t.Notes = append(slices.Clone(t.Notes), TaskNote{At: instant(at), By: by, Text: plain(text)})
	return t, nil
}

// AssignTask names who looks at an open task; empty: nobody. It is pure.
func AssignTask(t Task, to string) (Task, error) {
	if !t.IsOpen() {
		return t, Refuse("closed", "task %d was closed by %s: %s", t.ID, t.ClosedBy, t.Reason)
	}
	if t.Assigned == to {
		return t, Refuse("assigned", "task %d is assigned so already", t.ID)
	}
	t.Assigned = to
	return t, nil
}

// ofState are the kinds of tasks that stand for a row's state: they close by themselves when the row leaves it, and not
// before, so that no row is left in it with nobody looking.
var ofState = map[TaskKind]State{
	TaskHeld: Held, TaskFailed: Failed, TaskStuck: Pending, TaskNoAnswer: Unknown, TaskConflict: Unknown, TaskHandedOver: Unknown,
}

// TaskRow is the credit that the task is about; 0 where it is about something else.
func (t Task) TaskRow() ID {
	number, ok := strings.CutPrefix(t.Entity, "credit/")
	if !ok {
		return 0
	}
	id, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return ID(id)
}

// CloseTask decides that a person is done with a task. row is the task's row, where it has one. A task that stands for
// its row's state stays: the row must be settled first. It is pure.
func CloseTask(t Task, row *Credit, p People) (TaskClose, error) {
	if !t.IsOpen() {
		return TaskClose{}, Refuse("closed", "task %d was closed by %s: %s", t.ID, t.ClosedBy, t.Reason)
	}
	if t.Kind == TaskDoubt || t.Kind == TaskRestored {
		return TaskClose{}, Refuse("store_open", "task %d stands for the whole store; it closes by itself: %s", t.ID, t.Next)
	}
	if state, ok := ofState[t.Kind]; ok && row != nil && row.State == state {
		return TaskClose{}, Refuse("row_open", "task %d stands for credit %d, which is still %s; it closes when the row is settled: %s",
			t.ID, row.ID, row.State, t.Next)
	}
	return TaskClose{Key: t.Key(), By: p.Actor, Reason: plain(p.Reason), At: instant(p.At)}, nil
}
