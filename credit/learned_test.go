package credit

import (
	"testing"
	"time"
)

func TestLearn_KeepsWhatANewReportDidNotMeasure(t *testing.T) {
	t.Parallel()
	dealer, slow, fast, limit := uint64(7), time.Minute, time.Second, 50
	first := Learned{Server: "main", Identity: "A", Build: "1", At: noon, Dealer: &dealer, VisibleMost: &slow, Samples: 3, Sessions: &limit,
		Answers: []LearnedAnswer{{ID: "deal.dealer", Answer: "7", At: noon}, {ID: "page.order", Answer: "old", At: noon}}}
	s := Settings{}.Learn(first).Learn(Learned{Server: "another", Identity: "B"})
	later := Learned{Server: "main", Identity: "A", Build: "1", At: noon.Add(time.Hour), VisibleMost: &fast, Samples: 2, PageLimit: &limit,
		Answers: []LearnedAnswer{{ID: "page.order", Answer: "new", Differs: true, At: noon.Add(time.Hour)}}}
	got := s.Learn(later).LearnedOf("main")
	if *got.Dealer != 7 || *got.VisibleMost != slow || got.Samples != 5 || *got.PageLimit != 50 || got.Sessions == nil {
		t.Errorf("got %+v", got)
	}
	if len(got.Answers) != 2 || got.Answers[0].Answer != "7" || got.Answers[1].Answer != "new" || !got.Answers[1].Differs {
		t.Errorf("answers %+v", got.Answers)
	}
	if n := len(s.Learn(later).Learned); n != 2 || s.LearnedOf("main").Samples != 3 {
		t.Errorf("%d servers are known, or the settings before were changed", n)
	}
	unlimited := Learned{Server: "main", Identity: "A", Build: "1", Answers: []LearnedAnswer{{ID: "session.count"}}}
	if s.Learn(unlimited).LearnedOf("main").Sessions != nil {
		t.Error("a limit that is not met any more was kept")
	}
}

func TestLearn_AnotherVersionOfTheServerBeginsAnew(t *testing.T) {
	t.Parallel()
	dealer := uint64(7)
	s := Settings{}.Learn(Learned{Server: "main", Identity: "A", Build: "1", Dealer: &dealer, Answers: []LearnedAnswer{{ID: "deal.dealer"}}})
	for _, now := range []Learned{{Server: "main", Identity: "A", Build: "2"}, {Server: "main", Identity: "B", Build: "1"}} {
		if got := s.Learn(now).LearnedOf("main"); got.Dealer != nil || len(got.Answers) > 0 {
			t.Errorf("got %+v", got)
		}
	}
}
